"""Times the networks that find faces as Python runs them: one picture, fp32, libtorch's own operators.

usage: python_faces.py MODELS --size WxH --threads N [--runs N]
Prints one JSON object: for each network that the folder has as safetensors the median milliseconds of a picture.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import numpy as np
import torch
from safetensors.torch import load_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools/golden"))
import face_detection  # noqa: E402
import face_landmarks  # noqa: E402
import face_parsing  # noqa: E402

NETS = {
    "detector": (face_detection, "s3fd.safetensors"),
    "landmarks": (face_landmarks, "dwpose/dw-ll_ucoco_384.safetensors"),
    "face": (face_parsing, "face-parse-bisent/79999_iter.safetensors"),
}


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
    parser.add_argument("--size", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    width, height = map(int, options.size.split("x"))
    picture = np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)
    result = {}
    with torch.inference_mode():
        for name, (module, file) in NETS.items():
            if not (options.models / file).is_file():
                continue
            net = module.Transcription(load_file(options.models / file))
            seen = module.network_input(picture)
            views = [seen, seen.flip(3)] if name == "landmarks" else [seen]
            result[name] = median_ms(lambda: [net(view) for view in views], options.runs)  # noqa: B023
    print(json.dumps(result))


main()
