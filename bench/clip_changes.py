#!/usr/bin/env python3
"""usage: clip_changes.py AVATAR_FOLDER

How much an avatar with several clips jumps where one clip passes into another: the difference of neighbouring pictures
(root mean square, grey levels, 240 pixels wide) within its clips; where the other clip begins at once, at its first frame;
where it is entered at the frame that transitions.safetensors names, the best one within a second; and the largest step where
both clips are seen for five pictures then, as live sessions do it. Over all frames of each clip. Needs python3-numpy,
python3-opencv and python3-safetensors (or pip's)."""

import argparse
import json
import pathlib

import cv2
import numpy
from safetensors.numpy import load_file

SEARCH, FADE = 25, 5


def pictures(folder):
    video = cv2.VideoCapture(str(folder / "frames.mp4"))
    found = []
    while True:
        there, frame = video.read()
        if not there:
            return found
        height = round(frame.shape[0] * 240 / frame.shape[1])
        small = cv2.resize(frame, (240, height), interpolation=cv2.INTER_AREA)
        found.append(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(numpy.float32))


def step(a, b):
    return float(numpy.sqrt(numpy.mean((a - b) ** 2)))


def report(name, values):
    low, middle, high = numpy.percentile(values, [50, 95, 100])
    print(f"{name:34}  median {low:6.2f}  p95 {middle:6.2f}  largest {high:6.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    clips = json.loads((folder / "avatar.json").read_text())["clips"]
    table = load_file(folder / "transitions.safetensors")
    frames = pictures(folder)
    ends = [clip["first"] + clip["frames"] for clip in clips]
    own, at_once, matched, mixed = [], [], [], []
    for number, clip in enumerate(clips):
        span = range(clip["first"], ends[number])
        own += [step(frames[i], frames[i + 1]) for i in span[:-1]]
        for other, into in enumerate(clips):
            if other == number:
                continue
            for i in span[1:-FADE]:
                at_once.append(step(frames[i], frames[into["first"]]))
                ahead = range(i, min(i + SEARCH, ends[number] - FADE) + 1)
                best = min(ahead, key=lambda at: table["difference"][at, other] + (at - i) / SEARCH)
                entry = int(table["entry"][best, other])
                matched.append(step(frames[best - 1], frames[entry]))
                shown = [frames[best - 1]]
                for k in range(FADE + 1):
                    weight = min(1, (k + 1) / (FADE + 1))
                    new = frames[min(entry + k, ends[other] - 1)]
                    shown.append(weight * new + (1 - weight) * frames[min(best + k, ends[number] - 1)])
                mixed.append(max(step(a, b) for a, b in zip(shown, shown[1:])))
    report("neighbours within a clip", own)
    report("the other clip at once", at_once)
    report("at the frame that matches", matched)
    report("and both clips mixed: largest step", mixed)


if __name__ == "__main__":
    main()
