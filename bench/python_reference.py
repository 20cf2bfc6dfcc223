#!/usr/bin/env python3
"""Times UNet and VAE decoder as the Python reference runs them: diffusers' own modules.

usage: python_reference.py (MODELS | --size full|small|tiny) [--device cpu|cuda] [--ways W,...] [--batches N,...] [--runs N] [--threads N]
       [--packages FOLDER]
With --size the weights are random, so that neither a model nor a network is needed. Prints one JSON object; its rows
have for each way and batch the median milliseconds of a call: "unet", "decoder", "frame" (one after the other),
"pictures" (until they lie in the host's memory as BGR bytes, as MuseTalk's decode_latents brings them there), and what follows for
one frame: "ms_per_frame" and "frames_per_second" of "frame", "pictures_per_second".
On a GPU all but "pictures" are between two CUDA events.
Ways: "fp32" is what MuseTalk ships on a CPU and "fp16" on a GPU (NCHW); with "channels_last" behind it the best that eager Python
reaches; "bf16" is bf16 with channels_last.
Exit status 3, with the reason in one line, where torch, diffusers or the device are missing.
"""
import argparse
import contextlib
import importlib
import importlib.machinery
import importlib.metadata
import json
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
LATENT = 32  # side of a latent
WARM_UP = {"cpu": 1, "cuda": 5}
RUNS = {"cpu": 5, "cuda": 50}


def missing(why):
    print(f"python_reference.py: {why}", file=sys.stderr)
    sys.exit(3)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=pathlib.Path, nargs="?")
    parser.add_argument("--size", choices=("full", "small", "tiny"))
    parser.add_argument("--device", choices=tuple(RUNS), default="cpu")
    parser.add_argument("--ways", help="default: fp32,bf16 on a CPU, fp16,fp16 channels_last on a GPU")
    parser.add_argument("--batches", default="1")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--threads", type=int, help="default: as torch chooses")
    parser.add_argument("--packages", help="a folder of packages for what this Python itself lacks")
    options = parser.parse_args()
    if (options.models is None) == (options.size is None):
        parser.error("either MODELS or --size")
    options.ways = options.ways or {"cpu": "fp32,bf16", "cuda": "fp16,fp16 channels_last"}[options.device]
    options.runs = options.runs or RUNS[options.device]
    return options


def take_along(packages):
    """PACKAGES comes first in the path: it has versions that go together. A package with modules that were compiled for another Python is
    this Python's own, where it has it. What else this Python has beside torch and what torch needs is not there for diffusers, which loads
    more where it finds more, and PACKAGES has only what it loads without. Pillow is this Python's own, too."""
    with_torch = {"torch", "functorch", "torchgen", "numpy", "filelock", "fsspec", "jinja2", "markupsafe", "mpmath", "networkx", "sympy",
                  "typing_extensions", "triton", "nvidia", "cuda", "setuptools", "PIL"}
    own_suffix = importlib.machinery.EXTENSION_SUFFIXES[0]  # .cpython-312-x86_64-linux-gnu.so
    carried = {path.name.split(".")[0]: path for path in pathlib.Path(packages).iterdir()}
    for name, path in carried.items():
        if any(not file.name.endswith(own_suffix) for file in path.rglob("*.cpython-*.so")):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    sys.path.insert(0, packages)
    for name in importlib.metadata.packages_distributions():
        if not name.startswith("_") and name not in with_torch | carried.keys() | set(sys.stdlib_module_names):
            sys.modules.setdefault(name, None)


def libraries(device, packages):
    """torch and diffusers, if they are here and reach the device."""
    if packages and pathlib.Path(packages).is_dir():
        take_along(packages)
    try:
        import torch
    except ImportError as error:
        missing(f"{sys.executable} has no torch ({error})")
    if device == "cuda" and not torch.cuda.is_available():
        missing(f"torch {torch.__version__} of {sys.executable} reaches no CUDA device")
    try:
        import diffusers
        from diffusers.utils import logging
    except ImportError as error:
        missing(f"{sys.executable} has no diffusers that loads ({error})")
    logging.set_verbosity_error()
    return torch, diffusers


def load(kind, config, weights):
    from safetensors.torch import load_file

    net = kind.from_config(json.loads(config.read_text()))
    net.load_state_dict({name: tensor.float() for name, tensor in load_file(weights).items()})
    return net


def nets_of(options, torch, diffusers):
    """UNet and VAE in fp32 on the device, and the rows of a context."""
    unet, vae = diffusers.UNet2DConditionModel, diffusers.AutoencoderKL
    if options.size:
        from model_sizes import SIZES, unet_config, vae_config

        sizes = SIZES[options.size]
        torch.manual_seed(0)
        with torch.device(options.device):
            nets = unet.from_config(unet_config(sizes)), vae.from_config(vae_config(sizes))
        layers = sizes.whisper_layers
    else:
        models = options.models
        nets = (load(unet, models / "musetalkV15/musetalk.json", models / "musetalkV15/unet.safetensors"),
                load(vae, models / "sd-vae/config.json", models / "sd-vae/diffusion_pytorch_model.safetensors"))
        layers = json.loads((models / "whisper/config.json").read_text())["encoder_layers"]
    return *(net.to(options.device).eval() for net in nets), 10 * (layers + 1)


class Clock:
    """Medians of calls, in milliseconds."""

    def __init__(self, torch, options):
        self.torch, self.device, self.runs = torch, options.device, options.runs

    def on_device(self, work):
        if self.device == "cpu":
            return self.until_host(work)
        self.warm_up(work)
        event = lambda: self.torch.cuda.Event(enable_timing=True)
        marks = [(event(), event()) for _ in range(self.runs)]
        for begin, end in marks:
            begin.record()
            work()
            end.record()
        self.torch.cuda.synchronize()
        return statistics.median(begin.elapsed_time(end) for begin, end in marks)

    def until_host(self, work):
        self.warm_up(work)
        times = []
        for _ in range(self.runs):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        return 1000 * statistics.median(times)

    def warm_up(self, work):
        for _ in range(WARM_UP[self.device]):
            work()
        if self.device == "cuda":
            self.torch.cuda.synchronize()


def measured(torch, clock, unet, vae, rows, dtype, layout, batch, device):
    def noise(*shape):
        values = torch.randn(*shape, device=device).to(dtype)
        return values.to(memory_format=layout) if len(shape) == 4 else values

    latent, talking = noise(batch, 8, LATENT, LATENT), noise(batch, 4, LATENT, LATENT)
    context = noise(batch, rows, unet.config.cross_attention_dim)
    step = torch.tensor([0], device=device)
    lips = lambda: unet(latent, step, context).sample
    decode = lambda latents: vae.decode(latents / vae.config.scaling_factor).sample

    def pictures():
        picture = (decode(lips()) / 2 + 0.5).clamp(0, 1).cpu().permute(0, 2, 3, 1).float()
        return (picture * 255).round().to(torch.uint8).flip(-1).contiguous()

    times = {"unet": clock.on_device(lips), "decoder": clock.on_device(lambda: decode(talking))}
    times["frame"] = times["unet"] + times["decoder"] if device == "cpu" else clock.on_device(lambda: decode(lips()))
    times["pictures"] = clock.until_host(pictures)
    return times | {"ms_per_frame": times["frame"] / batch, "frames_per_second": 1000 * batch / times["frame"],
                    "pictures_per_second": 1000 * batch / times["pictures"]}


def main():
    options = parse()
    torch, diffusers = libraries(options.device, options.packages)
    if options.threads:
        torch.set_num_threads(options.threads)
    unet, vae, context_rows = nets_of(options, torch, diffusers)
    layouts = {"": torch.contiguous_format, "channels_last": torch.channels_last}
    dtypes = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    rows = []
    with torch.inference_mode():
        for way in options.ways.split(","):
            precision, _, layout = way.partition(" ")
            dtype = dtypes[precision]
            layout = layouts["channels_last" if precision == "bf16" else layout]
            unet.to(dtype).to(memory_format=layout)
            vae.to(dtype).to(memory_format=layout)
            for batch in map(int, options.batches.split(",")):
                clock = Clock(torch, options)
                times = measured(torch, clock, unet, vae, context_rows, dtype, layout, batch, options.device)
                rows.append({"way": way, "batch": batch, **times})
    print(json.dumps({
        "torch": torch.__version__, "diffusers": diffusers.__version__, "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name() if options.device == "cuda" else "cpu",
        "weights": options.size or str(options.models), "runs": options.runs, "rows": rows}))


if __name__ == "__main__":
    main()
