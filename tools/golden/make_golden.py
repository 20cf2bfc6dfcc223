#!/usr/bin/env python3
"""Writes a golden file (format navtalk-golden-1) from a MuseTalk checkpoint folder.

    tools/golden/make_golden.py MODELS OUTPUT.safetensors
    tools/golden/make_golden.py MODELS OUTPUT.safetensors --audio speech.wav --images faces/*.png
    tools/golden/make_golden.py MODELS OUTPUT.safetensors --groups compose --compose left

`navtalk model verify MODELS OUTPUT.safetensors` compares navtalk with it. Without --audio and
--images the inputs are synthetic and follow from --seed. Pictures are scaled to 256x256.
"""

import argparse
import math
import sys
from importlib.metadata import version
from pathlib import Path

import cv2
import librosa
import numpy as np
from safetensors.numpy import save_file

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import face_detection  # noqa: E402
import face_landmarks  # noqa: E402
import face_parsing  # noqa: E402
import model_folder  # noqa: E402
import reference  # noqa: E402

FORMAT = "navtalk-golden-1"
MUSETALK = ("mel", "whisper", "windows", "encode", "unet", "decode", "compose", "pipeline")
FACE_NETWORKS = ("bisenet", "dwpose", "s3fd")
GROUPS = MUSETALK + FACE_NETWORKS
LIBRARIES = (
    "torch",
    "diffusers",
    "transformers",
    "librosa",
    "numpy",
    "opencv-python-headless",
    "pillow",
)
# Which tensors make up each group.
TENSORS = {
    "mel": ("audio.samples", "mel.features"),
    "whisper": ("mel.features", "whisper.states"),
    "windows": ("audio.samples", "whisper.states", "windows.context"),
    "encode": ("encode.image", "encode.latents"),
    "unet": ("unet.latent", "unet.context", "unet.output"),
    "decode": ("decode.latent", "decode.raw", "decode.face"),
    "compose": tuple(
        f"compose.{part}" for part in ("frame", "face", "box", "mask", "crop_box", "output")
    ),
    "pipeline": ("audio.samples", "pipeline.latents", "pipeline.face"),
    "bisenet": ("bisenet.image", "bisenet.logits", "bisenet.labels"),
    "dwpose": ("dwpose.image", "dwpose.x", "dwpose.y", "dwpose.points"),
    "s3fd": ("s3fd.image", "s3fd.scores", "s3fd.offsets", "s3fd.box"),
}
# Where the face lies: the middle, touching an edge of the frame, or touching one and crossing one.
PLACES = ("middle", "left", "right", "top", "bottom", "top-left", "bottom-right")


def synthetic_audio(count, random):
    """`count` samples like speech: a gliding voice in syllables with noise, pauses between."""
    t = np.arange(count) / reference.SAMPLE_RATE
    pitch = 2 * np.pi * np.cumsum(120 + 30 * np.sin(2 * np.pi * 0.7 * t)) / reference.SAMPLE_RATE
    voice = sum(np.sin(k * pitch) / k for k in range(1, 12))
    syllables = np.clip(np.sin(2 * np.pi * 2.3 * t) + 0.3, 0, 1)
    noise = random.standard_normal(count)
    samples = 0.15 * voice * syllables + 0.005 * noise
    return np.clip(samples, -1, 1 - 2**-15).astype(np.float32)


def synthetic_picture(height, width, random):
    """Smooth colours with fine noise, [height,width,3]."""
    coarse = random.integers(0, 256, (6, 6, 3), dtype=np.uint8)
    smooth = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    noise = random.integers(-12, 13, smooth.shape)
    return np.clip(smooth.astype(int) + noise, 0, 255).astype(np.uint8)


def read_audio(arguments, random):
    """The audio as MuseTalk loads it: mono, 16 kHz."""
    if arguments.audio:
        samples = librosa.load(arguments.audio, sr=reference.SAMPLE_RATE)[0]
        return samples[: arguments.samples] if arguments.samples else samples
    return synthetic_audio(29 * 640 if arguments.samples is None else arguments.samples, random)


def read_pictures(arguments, random):
    """[K,256,256,3] BGR."""
    if not arguments.images:
        return np.stack([synthetic_picture(256, 256, random) for _ in range(arguments.crops)])
    pictures = []
    for path in arguments.images:
        picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
        if picture is None:
            raise SystemExit(f"{path}: not a picture that OpenCV reads")
        pictures.append(cv2.resize(picture, (256, 256), interpolation=cv2.INTER_LANCZOS4))
    return np.stack(pictures)


def compose_case(place, random):
    """Frame, face, box, mask and crop box with the face at `place`; odd sizes throughout."""
    height, width = 107, 121
    w, h = 47, 41
    left = {"left": 0, "right": width - w, "top-left": 0, "bottom-right": width - w + 9}
    top = {"top": 0, "bottom": height - h, "top-left": -6, "bottom-right": height - h}
    x1, y1 = left.get(place, 35), top.get(place, 31)
    x2, y2 = x1 + w, y1 + h
    cx, cy, s = (x1 + x2) // 2, (y1 + y2) // 2, int((max(w, h) // 2) * 1.5)
    # Lower half of the box, blurred as MuseTalk does, on a faint pattern that covers everything.
    mask = random.integers(0, 40, (2 * s, 2 * s), dtype=np.uint8)
    mask[s : y2 - (cy - s), x1 - (cx - s) : x2 - (cx - s)] = 255
    kernel = 2 * (2 * s // 20) + 1
    mask = cv2.GaussianBlur(mask, (kernel, kernel), 0)
    return {
        "frame": synthetic_picture(height, width, random),
        "face": synthetic_picture(256, 256, random),
        "box": np.array([x1, y1, x2, y2], np.int64),
        "mask": mask,
        "crop_box": np.array([cx - s, cy - s, cx + s, cy + s], np.int64),
    }


def add_audio_groups(tensors, nets, samples, fps):
    tensors["audio.samples"] = samples
    tensors["mel.features"] = reference.mel_features(samples)
    tensors["whisper.states"] = reference.whisper_states(nets, tensors["mel.features"])
    tensors["windows.context"] = reference.context_windows(
        tensors["whisper.states"], len(samples), fps
    )


def add_net_groups(tensors, nets, pictures, batch):
    """encode, unet and decode; each takes what the stage before it gave."""
    tensors["encode.image"] = pictures
    tensors["encode.latents"] = reference.encode(nets, pictures)
    windows = tensors["windows.context"]
    pick = np.linspace(0, len(windows) - 1, batch).round().astype(int)
    tensors["unet.latent"] = np.resize(
        tensors["encode.latents"], (batch, *tensors["encode.latents"].shape[1:])
    )
    tensors["unet.context"] = reference.add_positions(windows[pick])
    tensors["unet.output"] = reference.unet(nets, tensors["unet.latent"], tensors["unet.context"])
    tensors["decode.latent"] = tensors["unet.output"].copy()
    tensors["decode.raw"] = reference.decode_raw(nets, tensors["decode.latent"])
    tensors["decode.face"] = reference.faces(tensors["decode.raw"])


def add_compose(tensors, place, random):
    case = compose_case(place, random)
    output = reference.compose(
        case["frame"], case["face"], case["box"].tolist(), case["mask"], case["crop_box"].tolist()
    )
    tensors.update({f"compose.{name}": value for name, value in case.items()})
    tensors["compose.output"] = output


def add_pipeline(tensors, nets, frames):
    latents = tensors["encode.latents"]
    windows = reference.add_positions(tensors["windows.context"][:frames])
    picked = latents[[reference.ping_pong(t, len(latents)) for t in range(len(windows))]]
    tensors["pipeline.latents"] = latents.copy()
    raw = reference.decode_raw(nets, reference.unet(nets, picked, windows))
    tensors["pipeline.face"] = reference.faces(raw)


def add_face_parsing(tensors, arguments, random):
    """A crop that is larger than what the net sees, with the first picture or a synthetic one."""
    side = 600
    picture = synthetic_picture(side, side, random)
    if arguments.images:
        picture = cv2.resize(read_pictures(arguments, random)[0], (side, side))
    state = model_folder.load_weights(arguments.models, face_parsing.FILES)
    tensors["bisenet.image"] = picture
    tensors["bisenet.logits"], tensors["bisenet.labels"] = face_parsing.parse(
        state, picture, arguments.musetalk
    )


def add_landmarks(tensors, arguments, random):
    """A picture that is wider than what the net sees."""
    picture = synthetic_picture(480, 854, random)
    state = model_folder.load_weights(arguments.models, face_landmarks.FILES)
    tensors["dwpose.image"] = picture
    tensors["dwpose.x"], tensors["dwpose.y"], points = face_landmarks.find(
        state, picture, arguments.mmpose
    )
    tensors["dwpose.points"] = points.astype(np.float32)


def add_face_detection(tensors, arguments, random):
    """A picture whose sides no scale divides."""
    picture = synthetic_picture(301, 427, random)
    state = model_folder.load_weights(arguments.models, face_detection.FILES)
    tensors["s3fd.image"] = picture
    tensors["s3fd.scores"], tensors["s3fd.offsets"], tensors["s3fd.box"] = face_detection.detect(
        state, picture, arguments.musetalk
    )


def make(arguments):
    """All tensors of the wanted groups."""
    random = np.random.default_rng(arguments.seed)
    tensors = {}
    if set(arguments.groups) - {"compose", *FACE_NETWORKS}:
        nets, _ = model_folder.load(arguments.models)
        samples = read_audio(arguments, random)
        if math.floor(len(samples) / reference.SAMPLE_RATE * int(arguments.fps)) < 1:
            raise SystemExit("the audio is shorter than one video frame")
        add_audio_groups(tensors, nets, samples, arguments.fps)
        if {"encode", "unet", "decode", "pipeline"} & set(arguments.groups):
            add_net_groups(tensors, nets, read_pictures(arguments, random), arguments.batch)
        if "pipeline" in arguments.groups:
            add_pipeline(tensors, nets, arguments.frames)
    if "compose" in arguments.groups:
        add_compose(tensors, arguments.compose, random)
    if "bisenet" in arguments.groups:
        add_face_parsing(tensors, arguments, random)
    if "dwpose" in arguments.groups:
        add_landmarks(tensors, arguments, random)
    if "s3fd" in arguments.groups:
        add_face_detection(tensors, arguments, random)
    wanted = {name for group in arguments.groups for name in TENSORS[group]}
    return {name: np.ascontiguousarray(tensors[name]) for name in sorted(wanted)}


def groups(text):
    chosen = text.split(",")
    for group in chosen:
        if group not in GROUPS:
            raise argparse.ArgumentTypeError(f"{group} is none of {', '.join(GROUPS)}")
    return chosen


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path, help="MuseTalk's checkpoint folder")
    parser.add_argument("output", type=Path, help="the golden file to write")
    parser.add_argument(
        "--groups", type=groups, default=MUSETALK, help=f"comma-separated, of {', '.join(GROUPS)}"
    )
    parser.add_argument("--audio", type=Path, help="any file that librosa reads")
    parser.add_argument("--samples", type=int, help="how much audio at 16 kHz (synthetic: 18560)")
    parser.add_argument("--fps", type=float, default=25)
    parser.add_argument("--images", type=Path, nargs="+", help="face crops")
    parser.add_argument("--crops", type=int, default=2, help="synthetic face crops")
    parser.add_argument("--batch", type=int, default=2, help="B of the groups unet and decode")
    parser.add_argument("--frames", type=int, default=4, help="frames of the group pipeline")
    parser.add_argument("--compose", choices=PLACES, default="middle", help="where the face lies")
    parser.add_argument(
        "--musetalk", type=Path, help="a checkout of MuseTalk, whose BiSeNet and S3FD are then run"
    )
    parser.add_argument(
        "--mmpose", action="store_true", help="run mmpose's own modules, which must be installed"
    )
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    reference.make_deterministic()
    tensors = make(arguments)
    metadata = {"format": FORMAT, "fps": f"{arguments.fps:g}"}
    metadata.update({name: version(name) for name in LIBRARIES})
    save_file(tensors, arguments.output, metadata=metadata)
    for name, value in tensors.items():
        print(f"{name:17} {value.dtype} {list(value.shape)}")


if __name__ == "__main__":
    main()
