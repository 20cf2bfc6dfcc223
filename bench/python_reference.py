#!/usr/bin/env python3
"""Times UNet and VAE decoder as the Python reference runs them: diffusers' own modules.

usage: python_reference.py MODELS --runs N --threads N
Prints one JSON object: for each way to run them the median milliseconds of a frame at batch 1.
"fp32" is what MuseTalk ships (NCHW), "bf16" the best that Python reaches on CPUs that multiply
bf16 (channels_last).
"""
import argparse
import json
import pathlib
import statistics
import time

import torch
from diffusers import AutoencoderKL, UNet2DConditionModel
from diffusers.utils import logging
from safetensors.torch import load_file


def load(kind, config, weights):
    net = kind.from_config(json.loads(config.read_text()))
    net.load_state_dict({name: tensor.float() for name, tensor in load_file(weights).items()})
    return net.eval()


def median_ms(work, runs):
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--ways", default="fp32,bf16")
    options = parser.parse_args()
    logging.set_verbosity_error()
    torch.set_num_threads(options.threads)
    models = options.models
    unet = load(UNet2DConditionModel, models / "musetalkV15/musetalk.json",
                models / "musetalkV15/unet.safetensors")
    vae = load(AutoencoderKL, models / "sd-vae/config.json",
               models / "sd-vae/diffusion_pytorch_model.safetensors")
    layers = json.loads((models / "whisper/config.json").read_text())["encoder_layers"]
    ways = {"fp32": (torch.float32, torch.contiguous_format),
            "fp32 channels_last": (torch.float32, torch.channels_last),
            "bf16": (torch.bfloat16, torch.channels_last)}
    result = {"torch": torch.__version__, "threads": options.threads}
    with torch.inference_mode():
        for way in options.ways.split(","):
            dtype, layout = ways[way]
            unet.to(dtype).to(memory_format=layout)
            vae.to(dtype).to(memory_format=layout)
            latent = torch.randn(1, 8, 32, 32).to(dtype).to(memory_format=layout)
            talking = torch.randn(1, 4, 32, 32).to(dtype).to(memory_format=layout)
            context = torch.randn(1, 10 * (layers + 1), unet.config.cross_attention_dim).to(dtype)
            step = torch.tensor([0])
            times = {
                "unet": median_ms(lambda: unet(latent, step, context).sample, options.runs),
                "decoder": median_ms(lambda: vae.decode(talking).sample, options.runs),
            }
            result[way] = times | {"frame": times["unet"] + times["decoder"]}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
