"""Begins a work folder with exported models, so that the last stage can train them on.

    DIR/audio.pt, calm.pt   the encoder, with a head that is fitted to it again: none is exported
    DIR/vae.pt, unet.pt     as exported

They hold averaged weights only: the stages before `live` cannot go on from them.
"""

from pathlib import Path

import numpy as np
import torch

from files import load_state, save_state
from nets.audio_encoder import hidden_states
from nets.sizes import DEMO, model_folder
from program import Failure
from speech import speech_data
from speech.speech_windows import compose
from speech.visemes import PARAMETERS
from training import train_audio

STEP = 0  # of nets whose number of steps is not known
SEED = 993
FIT_WINDOWS, FIT_TOKENS = 300, 500


def read_by(unet: torch.nn.Module, spread: torch.Tensor) -> torch.Tensor:
    """[8, D], orthonormal: what the UNet's first attention heads read of a state over its spread [D].

    head_start.py gave their values the eight mouth parameters, and training leaves them nearly there.
    """
    values = [
        block.attn2.to_v.weight[: len(PARAMETERS)]
        for name, block in unet.named_modules()
        if name.endswith("transformer_blocks.0")
    ]
    stacked = torch.cat([value / value.norm() for value in values]) * spread
    return torch.linalg.svd(stacked, full_matrices=False).Vh[: len(PARAMETERS)]


@torch.no_grad()
def fit_head(reader: torch.nn.Module, unet: torch.nn.Module, clips) -> dict[str, float]:
    """Sets the head to the least squares of the clips' tracks, of what the UNet reads; how well it reads each."""
    states, tracks = [], []
    for k in range(FIT_WINDOWS):
        window = compose(clips, FIT_TOKENS, np.random.default_rng([SEED, k]))
        states.append(hidden_states(reader.encoder, window.mel[None])[0, :, -1])
        tracks.append(window.track)
    states, tracks = torch.cat(states).double(), torch.cat(tracks).double()
    centre, mean, spread = states.mean(0), tracks.mean(0), states.std(0)
    seen = read_by(unet, spread.float()).double() / spread
    numbers = (states - centre) @ seen.T
    weight = torch.linalg.lstsq(numbers, tracks - mean).solution.T
    reader.head.weight.copy_(weight @ seen)
    reader.head.bias.copy_(mean - weight @ seen @ centre)
    return train_audio.correlations((numbers @ weight.T + mean).numpy(), tracks.numpy())


def start(work: Path, folder: Path) -> None:
    """Writes the four files from the exported `folder`; nothing to do where it has done so.

    Failure where DIR holds nets that were trained there.
    """
    trained = load_state(work / "audio.pt")
    if trained is not None and trained.get("exported") == str(folder.resolve()):
        return
    if trained is not None:
        raise Failure(f"{work / 'audio.pt'} does not come from {folder}: name another work folder")
    nets, sizes = model_folder.load(folder)
    if sizes != DEMO:
        raise Failure(f"{folder} holds nets of other sizes than the demo's")
    reader = train_audio.new_reader().cpu().eval()
    reader.encoder.load_state_dict(nets.whisper.state_dict())
    found = fit_head(reader, nets.unet, speech_data.load(work, "train"))
    print("exported: head fitted: " + " ".join(f"{name} {value:.3f}" for name, value in found.items()))
    save_state(work / "vae.pt", {"average": nets.vae.state_dict(), "step": STEP})
    made_of = {"audio": STEP, "vae": STEP}
    save_state(work / "unet.pt", {"average": nets.unet.state_dict(), "step": STEP, "made_of": made_of})
    state = {"average": reader.state_dict(), "step": STEP, "exported": str(folder.resolve())}
    save_state(work / "calm.pt", state)
    save_state(work / "audio.pt", state)
