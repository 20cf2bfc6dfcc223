"""MuseTalk's checkpoint folder, written and read with diffusers and transformers.

    musetalkV15/  musetalk.json  unet.safetensors                      (or unet.pth)
    sd-vae/       config.json    diffusion_pytorch_model.safetensors   (or .bin)
    whisper/      config.json    preprocessor_config.json  model.safetensors  (or pytorch_model.bin)

The tools under tools/ share this file; navtalk itself reads such a folder with its own C++ readers.
"""

import json
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import torch
from diffusers import AutoencoderKL, UNet2DConditionModel
from model_sizes import Sizes, preprocessor_config, unet_config, vae_config, whisper_config
from safetensors.torch import load_file, save_file
from transformers import WhisperConfig
from transformers.models.whisper.modeling_whisper import WhisperEncoder

CONTAINERS = ("safetensors", "zip", "legacy")

# Weight files: the name of the safetensors form, then the name that MuseTalk's download gives.
UNET_FILES = ("musetalkV15/unet.safetensors", "musetalkV15/unet.pth")
VAE_FILES = ("sd-vae/diffusion_pytorch_model.safetensors", "sd-vae/diffusion_pytorch_model.bin")
WHISPER_FILES = ("whisper/model.safetensors", "whisper/pytorch_model.bin")


@dataclass
class Nets:
    """The three nets in fp32, ready for inference."""

    unet: UNet2DConditionModel
    vae: AutoencoderKL
    whisper: WhisperEncoder


def build(unet, vae, whisper):
    """Nets from the contents of the three configurations, on the meta device: without weights.

    Give them weights with load_state_dict(..., assign=True), or memory with to_empty().
    """
    with torch.device("meta"):
        nets = construct(unet, vae, whisper)
    for net in (nets.unet, nets.vae, nets.whisper):
        net.requires_grad_(False).eval()
    return nets


def construct(unet, vae, whisper):
    """Nets from the contents of the three configurations, with freshly drawn weights."""
    encoder_config = WhisperConfig(**{k: v for k, v in whisper.items() if k != "model_type"})
    encoder_config._attn_implementation = "sdpa"
    return Nets(
        UNet2DConditionModel.from_config(unet),
        AutoencoderKL.from_config(vae),
        WhisperEncoder(encoder_config),
    )


def save(folder, nets, sizes, container="safetensors", dtype=torch.float32):
    """Writes the whole folder; `dtype` is how the weights are stored."""
    folder = Path(folder)
    configs = {
        "musetalkV15/musetalk.json": unet_config(sizes),
        "sd-vae/config.json": vae_config(sizes),
        "whisper/config.json": whisper_config(sizes),
        "whisper/preprocessor_config.json": preprocessor_config(),
    }
    for name, content in configs.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")
    states = {
        UNET_FILES: nets.unet.state_dict(),
        VAE_FILES: nets.vae.state_dict(),
        WHISPER_FILES: {f"model.encoder.{k}": v for k, v in nets.whisper.state_dict().items()},
    }
    for files, state in states.items():
        stored = OrderedDict((k, v.to(dtype).contiguous()) for k, v in state.items())
        if hasattr(state, "_metadata"):
            stored._metadata = state._metadata  # as in files that torch.save(net.state_dict()) made
        save_weights(folder, files, stored, container)


def save_weights(folder, files, state, container):
    if container == "safetensors":
        save_file(state, folder / files[0], metadata={"format": "pt"})
    else:
        torch.save(state, folder / files[1], _use_new_zipfile_serialization=container == "zip")


def load(folder):
    """(Nets, Sizes) of a folder in any container, weights converted to fp32, strictly."""
    folder = Path(folder)
    unet, vae, whisper = (
        json.loads((folder / name).read_text())
        for name in ("musetalkV15/musetalk.json", "sd-vae/config.json", "whisper/config.json")
    )
    nets = build(unet, vae, whisper)
    vae_state = _modern_attention(load_weights(folder, VAE_FILES))
    whisper_state = _encoder_only(load_weights(folder, WHISPER_FILES))
    nets.unet.load_state_dict(load_weights(folder, UNET_FILES), assign=True)
    nets.vae.load_state_dict(vae_state, assign=True)
    nets.whisper.load_state_dict(whisper_state, assign=True)
    heads = unet["attention_head_dim"]
    sizes = Sizes(
        unet_channels=tuple(unet["block_out_channels"]),
        unet_layers=unet["layers_per_block"],
        unet_heads=heads if isinstance(heads, int) else tuple(heads),
        unet_groups=unet["norm_num_groups"],
        vae_channels=tuple(vae["block_out_channels"]),
        vae_layers=vae["layers_per_block"],
        vae_groups=vae["norm_num_groups"],
        width=whisper["d_model"],
        whisper_layers=whisper["encoder_layers"],
        whisper_heads=whisper["encoder_attention_heads"],
        whisper_ffn=whisper["encoder_ffn_dim"],
    )
    return nets, sizes


def load_weights(folder, files):
    """The state dict of the first of the files that is there, in fp32."""
    folder = Path(folder)
    for name in files:
        path = folder / name
        if path.exists():
            if path.suffix == ".safetensors":
                state = load_file(path)
            else:
                # mmap needs the zip form; the legacy form is read whole.
                with path.open("rb") as file:
                    zip_form = file.read(4) == b"PK\x03\x04"
                state = torch.load(path, map_location="cpu", weights_only=True, mmap=zip_form)
            # Trainings wrap it.
            state = state.get("state_dict", state)
            return {k: v.float() for k, v in state.items()}
    raise SystemExit(f"{folder}: neither {files[0]} nor {files[1]} is there")


def _modern_attention(state):
    """Old VAE files name the attention's four layers differently."""
    spelling = {"query": "to_q", "key": "to_k", "value": "to_v", "proj_attn": "to_out.0"}
    renamed = {}
    for key, value in state.items():
        for old, new in spelling.items():
            key = key.replace(f".attentions.0.{old}.", f".attentions.0.{new}.")
        # Older still: 1x1 convolutions where today's layers are linear.
        flat = ".attentions.0." in key and value.dim() == 4
        renamed[key] = value[:, :, 0, 0] if flat else value
    return renamed


def _encoder_only(state):
    """Whisper's encoder out of a whole model, with or without the prefix "model."."""
    state = {k.removeprefix("model."): v for k, v in state.items()}
    return {k.removeprefix("encoder."): v for k, v in state.items() if k.startswith("encoder.")}
