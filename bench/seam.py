#!/usr/bin/env python3
"""How visible a generated face is in its video: its seam, its sharpness and its colours beside the clip's own.

usage: bench/seam.py AVATAR VIDEO [VIDEO ...]

AVATAR is a folder of `navtalk avatar prepare`; each VIDEO was rendered with it at the avatar's rate, from its first frame, near
lossless (--crf 5). Needs numpy, OpenCV and safetensors: scripts/python-env makes a Python with them.

colour   over the seam (mask between 0 and 255): |mean of the video - mean of the clip|, mean of channels and frames, grey levels
step     over the seam: mean length of the gradient of (video - clip), grey levels a pixel: what the eye takes for an edge
sharp    over the mouth (mask 255): variance of the Laplacian; the clip's own in the first line
"""

import json
import pathlib
import sys

import cv2
import numpy as np
from safetensors.numpy import load_file


def pictures(file):
    video = cv2.VideoCapture(str(file))
    while True:
        there, picture = video.read()
        if not there:
            return
        yield picture


def shown(t, count, loop):
    k = t % count if loop else t % (2 * count)
    return k if k < count else 2 * count - 1 - k


def sharpness(picture, inside):
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    return cv2.Laplacian(grey, cv2.CV_64F)[inside].var()


def measured(avatar, video, info, faces, masks, clip):
    colours, steps, sharps, own = [], [], [], []
    for t, picture in enumerate(pictures(video)):
        at = shown(t, info["frames"], info.get("loop", False))
        face = faces[at]
        if face is None:
            continue
        x, y = face["crop_box"][:2]
        x1, y1, x2, y2 = (a + b for a, b in zip(face["mask_region"], (x, y, x, y), strict=True))
        mask = np.zeros(picture.shape[:2], np.uint8)
        mask[y1:y2, x1:x2] = masks[str(face["mask"])]
        seam, inside = (mask > 0) & (mask < 255), mask == 255
        off = picture.astype(np.float64) - clip[at]
        colours.append(np.abs(off[seam].mean(0)).mean())
        along, down = np.gradient(off.mean(2), axis=1), np.gradient(off.mean(2), axis=0)
        steps.append(np.hypot(along, down)[seam].mean())
        sharps.append(sharpness(picture, inside))
        own.append(sharpness(clip[at], inside))
    return np.mean(colours), np.mean(steps), np.mean(sharps), np.mean(own)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    avatar = pathlib.Path(sys.argv[1])
    info = json.loads((avatar / "avatar.json").read_text())
    faces = json.loads((avatar / "faces.json").read_text())["frames"]
    masks = load_file(avatar / "masks.safetensors")
    clip = list(pictures(avatar / "frames.mp4"))
    rows = [(video, *measured(avatar, video, info, faces, masks, clip)) for video in sys.argv[2:]]
    print(f"{'':24}{'colour':>8}{'step':>8}{'sharp':>8}")
    print(f"{'the clip itself':24}{0:8.2f}{0:8.2f}{rows[0][4]:8.1f}")
    for video, colour, step, sharp, _ in rows:
        print(f"{pathlib.Path(video).name:24}{colour:8.2f}{step:8.2f}{sharp:8.1f}")


main()
