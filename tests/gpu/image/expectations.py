#!/usr/bin/env python3
"""Writes expectations.txt: checksums of what OpenCV and Pillow make of reproducible noise.

usage: expectations.py > expectations.txt
needs: opencv-python 4.9, Pillow, numpy (the pinned reference: tools/requirements.txt)

One line per picture: operation, its parameters, CRC-32 of the result's bytes. The noise is that of
noise.h. Composition goes the long way that MuseTalk goes (crop, paste, paste through the mask).
"""
import zlib

import cv2
import numpy as np
from PIL import Image

cv2.ipp.setUseIPP(False)  # its Lanczos filter is another one


def noise(seed, width, height, channels=3, kind="noise"):
    index = np.arange(1, width * height * channels + 1, dtype=np.uint64)
    z = np.uint64(seed << 32) + index * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    level = ((z ^ (z >> np.uint64(31))) >> np.uint64(56)).astype(np.uint8)
    if kind == "extreme":
        level = np.where(level < 128, 0, 255).astype(np.uint8)
    return level.reshape(height, width, channels)


def write(*fields, result):
    print(*fields, f"{zlib.crc32(np.ascontiguousarray(result).tobytes()):08x}")


def resizes(rng):
    flags = {"linear": cv2.INTER_LINEAR, "lanczos4": cv2.INTER_LANCZOS4}
    fixed = [(256, 256, 256, 256), (1, 1, 7, 5), (5, 1, 1, 9), (256, 256, 512, 512), (256, 256, 128, 128),
             (256, 256, 1, 1), (3, 2, 2, 3), (256, 256, 257, 255)]
    for name, flag in flags.items():
        to_box = [(256, 256, *rng.integers(1, 520, 2)) for _ in range(12)]
        from_box = [(*rng.integers(1, 520, 2), 256, 256) for _ in range(12)]
        small = [tuple(rng.integers(1, 30, 4)) for _ in range(24)]
        for seed, (w, h, out_w, out_h) in enumerate(fixed + to_box + from_box + small):
            channels = (3, 1, 4)[seed % 3]
            kind = ("noise", "extreme")[seed % 2]
            result = cv2.resize(noise(seed, w, h, channels, kind), (int(out_w), int(out_h)), interpolation=flag)
            write("resize", name, kind, seed, w, h, channels, out_w, out_h, result=result)


def blurs(rng):
    for size in list(range(1, 62, 2)) + [67, 75, 101]:
        w, h = rng.integers(1, 90, 2)
        kind, channels = ("noise", "extreme")[size % 4 // 2], (1, 3)[size % 3 == 0]
        result = cv2.GaussianBlur(noise(size, w, h, channels, kind), (size, size), 0)
        write("blur", kind, size, w, h, channels, size, result=result)


def sharpened(image, amount, sigma, threshold):
    source = image.astype(np.float64)
    blurred = cv2.GaussianBlur(image, (5, 5), sigma).reshape(image.shape).astype(np.float64)
    sharp = np.clip(np.round((1 + amount) * source - amount * blurred), 0, 255).astype(np.uint8)
    return np.where(np.abs(source - blurred) < threshold, image, sharp)


def unsharps(rng):
    for seed, amount in enumerate([1.2, 1.2, 0.5, 0.5, 1.0, 2.0, 0.25, 3.7]):
        amount, sigma = float(np.float32(amount)), float(np.float32([1.0, 0.6][seed % 2]))
        threshold = [5, 0, 1, 12][seed % 4]
        w, h = rng.integers(1, 120, 2)
        kind = ("noise", "extreme")[seed % 2]
        result = sharpened(noise(seed, w, h, 3, kind), amount, sigma, threshold)
        write("unsharp", kind, seed, w, h, repr(amount), repr(sigma), threshold, result=result)


def composed(frame, face, box, mask, crop_box, sharpen):
    x1, y1, x2, y2 = box
    resized = cv2.resize(face, (x2 - x1, y2 - y1))
    if sharpen:
        resized = sharpened(resized, float(np.float32(1.2)), 1.0, 5)
    body = Image.fromarray(frame)
    large = body.crop(crop_box)
    large.paste(Image.fromarray(resized), (x1 - crop_box[0], y1 - crop_box[1]))
    body.paste(large, crop_box[:2], Image.fromarray(mask[:, :, 0]))
    return np.array(body)


def composes(rng):
    w, h = 160, 120
    boxes = [(40, 30, 100, 95), (-20, 10, 50, 90), (110, 20, 190, 99), (30, -25, 90, 40), (20, 80, 99, 150),
             (-30, -30, 200, 170), (50, 50, 51, 51), (0, 0, 1, 1), (159, 119, 160, 120), (10, 10, 110, 11),
             (10, 10, 11, 90), (-40, -40, -10, -5), (20, 10, 120, 110)]
    boxes += [(x, y, x + bw, y + bh) for x, y, bw, bh in
              zip(rng.integers(-40, 150, 30), rng.integers(-40, 110, 30), rng.integers(1, 90, 30),
                  rng.integers(1, 90, 30))]
    for seed, box in enumerate(boxes):
        x1, y1, x2, y2 = box = tuple(int(v) for v in box)
        side = max(1, int(max(x2 - x1, y2 - y1) // 2 * 1.5))
        cx, cy = (x1 + x2) // 2, (y1 + y2) // 2
        crop_box = (cx - side, cy - side, cx + side, cy + side)
        sharpen = seed % 3 == 0
        result = composed(noise(3 * seed, w, h), noise(3 * seed + 1, 256, 256), box,
                          noise(3 * seed + 2, 2 * side, 2 * side, 1), crop_box, sharpen)
        write("compose", seed, w, h, *box, *crop_box, int(sharpen), result=result)


if __name__ == "__main__":
    generator = np.random.default_rng(1)
    resizes(generator)
    blurs(generator)
    unsharps(generator)
    composes(generator)
