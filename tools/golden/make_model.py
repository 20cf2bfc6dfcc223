#!/usr/bin/env python3
"""Makes a MuseTalk checkpoint folder with random weights, in any size and container.

    tools/golden/make_model.py FOLDER --size tiny
    tools/golden/make_model.py FOLDER --size tiny --unet-channels 16,16,24,32 --unet-heads 1
    tools/golden/make_model.py FOLDER --size full --container zip

Every option that names a size overrides that part of --size. The weights are drawn so that the
activations keep their scale through all layers; norms get random weights and biases too, whose
usual 1 and 0 would hide mistakes. The same seed gives the same weights.
"""

import argparse
import dataclasses
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import face_detection  # noqa: E402
import face_landmarks  # noqa: E402
import face_parsing  # noqa: E402
import model_folder  # noqa: E402
from model_sizes import SIZES, Sizes  # noqa: E402

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


# The last layer of each residual branch.
BRANCH_ENDS = ("conv2", "proj_out", "to_out.0", "ff.net.2", "fc2", "out_proj")


def randomise(net, generator, residual_gain):
    """Draws every parameter of `net`, in place and in the order of its state dict."""
    norms = (torch.nn.GroupNorm, torch.nn.LayerNorm)
    norm_weights = {f"{n}.weight" for n, m in net.named_modules() if isinstance(m, norms)}
    for name, value in net.state_dict().items():
        if name in norm_weights:
            value.uniform_(0.7, 1.3, generator=generator)
        elif value.dim() == 1:
            value.normal_(0, 0.1, generator=generator)
        elif name == "embed_positions.weight":
            value.normal_(0, 0.5, generator=generator)
        else:
            fan_in = value[0].numel()
            # Decoded pictures stay mostly within [-1,1], as trained ones do.
            gain = 0.7 if name == "decoder.conv_out.weight" else 1.0
            if name.removesuffix(".weight").endswith(BRANCH_ENDS) and name != "conv2.weight":
                gain = residual_gain  # whisper's own conv2 is no branch
            value.normal_(0, gain * fan_in**-0.5, generator=generator)


def random_nets(sizes, seed, residual_gain):
    """Nets of the given sizes with random weights."""
    nets = model_folder.build(
        model_folder.unet_config(sizes),
        model_folder.vae_config(sizes),
        model_folder.whisper_config(sizes),
    )
    generator = torch.Generator().manual_seed(seed)
    for net in (nets.unet, nets.vae, nets.whisper):
        net.to_empty(device="cpu")
        randomise(net, generator, residual_gain)
    return nets


def numbers(text):
    return tuple(int(part) for part in text.split(","))


def heads(text):
    """One number of heads, or one for each of the four blocks."""
    return numbers(text) if "," in text else int(text)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--container", choices=model_folder.CONTAINERS, default="safetensors")
    parser.add_argument("--dtype", choices=DTYPES, default="f32", help="how weights are stored")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--face-parsing",
        type=int,
        metavar="WIDTH",
        help="add a BiSeNet; the published one has the width 64",
    )
    parser.add_argument(
        "--face-landmarks",
        type=int,
        metavar="WIDTH",
        help="add DWPose's net; the published one has the width 64",
    )
    parser.add_argument(
        "--face-detector",
        type=int,
        metavar="WIDTH",
        help="add an S3FD; the published one has the width 64",
    )
    parser.add_argument("--only-faces", action="store_true", help="write the face networks only")
    parser.add_argument(
        "--residual-gain",
        type=float,
        default=1.0,
        help="scale of each residual branch; below 1 rounding errors grow less",
    )
    for field in dataclasses.fields(Sizes):
        kind = {"unet_channels": numbers, "vae_channels": numbers, "unet_heads": heads}
        option = "--" + field.name.replace("_", "-")
        parser.add_argument(option, type=kind.get(field.name, int))
    return parser.parse_args()


def save_face_networks(arguments):
    """Those that were asked for, each of its width."""
    for net, width in (
        (face_parsing, arguments.face_parsing),
        (face_landmarks, arguments.face_landmarks),
        (face_detection, arguments.face_detector),
    ):
        if not width:
            continue
        state = net.random_state(arguments.seed, width)
        (arguments.folder / net.FILES[0]).parent.mkdir(parents=True, exist_ok=True)
        # A training's checkpoint, as mmengine writes it, keeps more beside the weights.
        if net is face_landmarks and arguments.container != "safetensors":
            state = {"meta": {"epoch": 1}, "state_dict": state, "message_hub": {}}
        model_folder.save_weights(arguments.folder, net.FILES, state, arguments.container)


def main():
    arguments = parse_arguments()
    overrides = {
        field.name: value
        for field in dataclasses.fields(Sizes)
        if (value := getattr(arguments, field.name)) is not None
    }
    sizes = dataclasses.replace(SIZES[arguments.size], **overrides)
    save_face_networks(arguments)
    if arguments.only_faces:
        return
    nets = random_nets(sizes, arguments.seed, arguments.residual_gain)
    dtype = DTYPES[arguments.dtype]
    model_folder.save(arguments.folder, nets, sizes, arguments.container, dtype)
    count = sum(p.numel() for net in vars(nets).values() for p in net.parameters())
    print(f"{arguments.folder}: {count / 1e6:.2f} million parameters, {arguments.container}")


if __name__ == "__main__":
    main()
