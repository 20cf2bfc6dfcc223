"""The rendered crops as the UNet sees them: latents of the trained VAE, made once.

    DIR/latents/ADA-0000.npz   masked, reference [G, 2, 4, 32, 32] (as rendered; through a clip),
                               target [G, K, 4, 32, 32], float16; made_of: the VAE's step
"""

import sys
from pathlib import Path

import numpy as np
import torch

from faces.degrade import degraded
from faces.framing import with_part
from files import is_made_of, required_state, save_arrays
from nets.vae import latents_of
from provenance import face_shards, is_older
from training.train_vae import new_vae


def trained_vae(work: Path) -> tuple[torch.nn.Module, int]:
    """The averaged VAE of DIR/vae.pt, frozen, and the step that it was trained to."""
    state = required_state(work / "vae.pt", "vae")
    vae = new_vae(None)
    vae.load_state_dict(state["average"])
    return vae.eval().requires_grad_(False), state["step"]


def encode_shard(vae: torch.nn.Module, faces: dict[str, np.ndarray], seed: int) -> dict:
    """The latents of one shard of faces."""
    rng = np.random.default_rng(seed)
    clean = faces["reference"]
    played = np.stack([degraded(crop, rng) for crop in clean])
    groups, mouths = faces["parts"].shape[:2]
    speaking = np.stack(
        [with_part(clean[g], faces["parts"][g, k]) for g in range(groups) for k in range(mouths)]
    )
    both = [
        np.stack([latents_of(vae, crops, blank).half().numpy() for crops in (clean, played)], 1)
        for blank in (True, False)
    ]
    target = latents_of(vae, speaking, False).half().numpy()
    return {
        "masked": both[0],
        "reference": both[1],
        "target": target.reshape(groups, mouths, *target.shape[1:]),
    }


def make(work: Path) -> None:
    """Latents of every shard of faces that lacks them or has another VAE's."""
    vae, step = trained_vae(work)
    paths = face_shards(work)
    for number, source in enumerate(paths):
        path = work / "latents" / source.name
        if is_made_of(path, step) and not is_older(path, source):
            continue
        with np.load(source) as faces:
            shard = encode_shard(vae, dict(faces), number)
        save_arrays(path, made_of=np.array(step), **shard)
        print(f"latents: {number + 1} of {len(paths)}", file=sys.stderr, flush=True)


def load(work: Path) -> dict[str, np.ndarray]:
    """All shards joined, in the order of face_data.load."""
    shards = []
    for source in face_shards(work):
        with np.load(work / "latents" / source.name) as file:
            shards.append({name: file[name] for name in ("masked", "reference", "target")})
    return {name: np.concatenate([shard[name] for shard in shards]) for name in shards[0]}
