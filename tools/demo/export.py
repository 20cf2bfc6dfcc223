#!/usr/bin/env python3
"""Exports trained demo nets to MuseTalk's checkpoint layout.

    tools/demo/export.py CHECKPOINT.pt OUTPUT_FOLDER [--dtype f16|f32]

CHECKPOINT.pt is what the demo's training saves: a tuple of
  VAE config      (block_out_channels, layers_per_block, norm groups)
  VAE state dict
  UNet config     (block_out_channels, layers_per_block, context width, norm groups, heads)
  UNet state dict
  whisper config  (d_model, layers, heads); the feed-forward width is 4 * d_model
  encoder state dict

The folder is read back afterwards and must hold the same nets.
"""

import argparse
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import model_folder  # noqa: E402

DTYPES = {"f16": torch.float16, "f32": torch.float32}


def sizes_of(vae, unet, whisper):
    """The checkpoint's three short configurations as model_folder.Sizes."""
    if unet[2] != whisper[0]:
        raise SystemExit(f"the UNet's context width {unet[2]} is not whisper's width {whisper[0]}")
    return model_folder.Sizes(
        unet_channels=unet[0],
        unet_layers=unet[1],
        unet_groups=unet[3],
        unet_heads=unet[4],
        vae_channels=vae[0],
        vae_layers=vae[1],
        vae_groups=vae[2],
        width=whisper[0],
        whisper_layers=whisper[1],
        whisper_heads=whisper[2],
        whisper_ffn=4 * whisper[0],
    )


def read_checkpoint(path):
    """(Nets, Sizes) of a training checkpoint; loads strictly."""
    vae, vae_state, unet, unet_state, whisper, whisper_state = torch.load(path, weights_only=True)
    sizes = sizes_of(vae, unet, whisper)
    nets = model_folder.build(
        model_folder.unet_config(sizes),
        model_folder.vae_config(sizes),
        model_folder.whisper_config(sizes),
    )
    nets.vae.load_state_dict(vae_state, assign=True)
    nets.unet.load_state_dict(unet_state, assign=True)
    nets.whisper.load_state_dict(whisper_state, assign=True)
    return nets, sizes


def check_same(saved, loaded, dtype):
    """Every tensor of `loaded` is that of `saved`, rounded to `dtype`."""
    for name in ("unet", "vae", "whisper"):
        expected, found = getattr(saved, name).state_dict(), getattr(loaded, name).state_dict()
        for key, value in expected.items():
            if not torch.equal(value.to(dtype).float(), found[key]):
                raise SystemExit(f"{name}: {key} came back different")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--dtype", choices=DTYPES, default="f16", help="how weights are stored")
    arguments = parser.parse_args()

    nets, sizes = read_checkpoint(arguments.checkpoint)
    dtype = DTYPES[arguments.dtype]
    model_folder.save(arguments.output, nets, sizes, dtype=dtype)
    check_same(nets, model_folder.load(arguments.output)[0], dtype)
    total = sum(f.stat().st_size for f in arguments.output.rglob("*") if f.is_file())
    print(f"{arguments.output}: {total / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
