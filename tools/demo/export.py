#!/usr/bin/env python3
"""Exports trained demo nets to MuseTalk's checkpoint layout.

    tools/demo/export.py TRAINED OUTPUT_FOLDER [--dtype f16|f32]

TRAINED is the work folder of tools/demo/make, whose averaged weights in audio.pt, calm.pt or live.pt,
vae.pt and unet.pt are taken, or one file of the prototype: a tuple of
  VAE config      (block_out_channels, layers_per_block, norm groups)
  VAE state dict
  UNet config     (block_out_channels, layers_per_block, context width, norm groups, heads)
  UNet state dict
  whisper config  (d_model, layers, heads); the feed-forward width is 4 * d_model
  encoder state dict

The folder is read back and must hold the same nets before it takes its place, for an older one of its kind.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

import program

program.enter_environment()
import torch  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import model_folder  # noqa: E402
import provenance  # noqa: E402
from faces.characters import AVATARS  # noqa: E402
from files import replace_folder, required_state  # noqa: E402
from nets.sizes import DEMO  # noqa: E402
from training import live_audio  # noqa: E402

MADE_FOR = "navtalk.json"
MODEL_FOLDERS = {"musetalkV15", "sd-vae", "whisper", MADE_FOR}
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


def read_work(work):
    """(Nets, Sizes) of a work folder; loads strictly."""
    states = {
        "unet": provenance.check_unet(work)["average"],
        "vae": required_state(work / "vae.pt", "vae")["average"],
    }
    prefix = "encoder."
    states["audio"] = {
        key.removeprefix(prefix): value
        for key, value in live_audio.states_of(work)[0]["average"].items()
        if key.startswith(prefix)  # the head has done its work
    }
    nets = model_folder.build(
        model_folder.unet_config(DEMO),
        model_folder.vae_config(DEMO),
        model_folder.whisper_config(DEMO),
    )
    nets.whisper.load_state_dict(states["audio"], assign=True)
    nets.vae.load_state_dict(states["vae"], assign=True)
    nets.unet.load_state_dict(states["unet"], assign=True)
    return nets, DEMO


def read_prototype(path):
    """(Nets, Sizes) of a prototype's file; loads strictly."""
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


def write_made_for(folder, avatars):
    """Which avatars the nets move, for navtalk's warning; navtalk-model(1) describes the file."""
    (folder / MADE_FOR).write_text(json.dumps({"made_for": sorted(avatars)}, indent=2) + "\n")


def export(trained, output, dtype=torch.float16):
    """Writes the folder beside its place, reads it back, puts it there, and says how large it is."""
    nets, sizes = read_work(trained) if trained.is_dir() else read_prototype(trained)
    partial = output.with_name(output.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    model_folder.save(partial, nets, sizes, dtype=dtype)
    check_same(nets, model_folder.load(partial)[0], dtype)
    write_made_for(partial, AVATARS)
    replace_folder(partial, output, MODEL_FOLDERS)
    total = sum(f.stat().st_size for f in output.rglob("*") if f.is_file())
    print(f"{output}: {total / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trained", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--dtype", choices=DTYPES, default="f16", help="how weights are stored")
    arguments = parser.parse_args()
    export(arguments.trained, arguments.output, DTYPES[arguments.dtype])


if __name__ == "__main__":
    with program.errors_in_one_line("export.py"):
        main()
