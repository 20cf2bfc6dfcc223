"""S3FD, which MuseTalk asks whether a frame shows a face: the original module, a transcription of it, random weights.

The original is plain PyTorch in MuseTalk's repository, which is no package: name a checkout of
commit 0a89dec45a0192b824e3cf4daf96c239440c5ed8 to run it. The transcription below needs none.
"""

import importlib.util
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

FILES = ("s3fd.safetensors", "s3fd.pth")
DEPTHS = (2, 2, 3, 3, 3)
NORMALISED = ("conv3_3_norm", "conv4_3_norm", "conv5_3_norm")
SCALES = (*NORMALISED, "fc7", "conv6_2", "conv7_2")


def network_input(image):
    """[H,W,3] BGR to [1,3,H,W]: RGB, less the means of blue, green and red in this order."""
    picture = image[:, :, ::-1].astype(np.float32) - np.array([104, 117, 123], np.float32)
    return torch.from_numpy(picture.transpose(2, 0, 1).copy())[None]


class Transcription:
    """The net as a function of its state dict: twelve maps, scores and offsets in turn."""

    def __init__(self, state):
        self.state = state

    def __call__(self, x):
        maps = []
        for block, depth in enumerate(DEPTHS, 1):
            for i in range(1, depth + 1):
                x = self.layer(f"conv{block}_{i}", x, 1)
            if block >= 3:
                maps += self.heads(NORMALISED[block - 3], x)
            x = F.max_pool2d(x, 2, 2)
        x = self.layer("fc7", self.layer("fc6", x, 3), 0)
        maps += self.heads("fc7", x)
        for scale in ("conv6", "conv7"):
            x = self.layer(scale + "_2", self.layer(scale + "_1", x, 0), 1, 2)
            maps += self.heads(scale + "_2", x)
        return maps

    def conv(self, name, x, padding, stride=1):
        weight, bias = self.state[name + ".weight"], self.state[name + ".bias"]
        return F.conv2d(x, weight, bias, stride=stride, padding=padding)

    def layer(self, name, x, padding, stride=1):
        return F.relu(self.conv(name, x, padding, stride))

    def heads(self, name, x):
        if name in NORMALISED:
            length = x.pow(2).sum(1, keepdim=True).sqrt() + 1e-10
            x = x / length * self.state[name + ".weight"].view(1, -1, 1, 1)
        scores = self.conv(name + "_mbox_conf", x, 1)
        if scores.shape[1] == 4:
            scores = torch.cat((scores[:, :3].amax(1, keepdim=True), scores[:, 3:]), 1)
        return scores, self.conv(name + "_mbox_loc", x, 1)


def original(checkout):
    """The original module, freshly made."""
    folder = Path(checkout) / "musetalk" / "utils" / "face_detection" / "detection" / "sfd"
    spec = importlib.util.spec_from_file_location("net_s3fd", folder / "net_s3fd.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.s3fd()


def decode(maps):
    """Candidates [N,5] of all scales: x1, y1, x2, y2, score; float32."""
    found = [np.zeros((0, 5), np.float32)]
    for level in range(6):
        cell = 2 ** (level + 2)
        scores = F.softmax(maps[2 * level], 1)[0, 1]
        rows, columns = torch.nonzero(scores > 0.05, as_tuple=True)
        offsets = maps[2 * level + 1][0][:, rows, columns].T
        middle = torch.stack((cell / 2 + columns * cell, cell / 2 + rows * cell), 1).float()
        prior = torch.full_like(middle, 4.0 * cell)
        center = middle + offsets[:, :2] * 0.1 * prior
        size = prior * torch.exp(offsets[:, 2:] * 0.2)
        corner = center - size / 2
        boxes = torch.cat((corner, size + corner, scores[rows, columns][:, None]), 1)
        found.append(boxes.numpy())
    return np.concatenate(found)


def suppress(found, threshold=0.3):
    """The rows that stay, the best first."""
    x1, y1, x2, y2, scores = found.T
    areas = (x2 - x1 + 1) * (y2 - y1 + 1)
    order = np.argsort(scores, kind="stable")[::-1]
    kept = []
    while order.size:
        best, rest = order[0], order[1:]
        kept.append(best)
        width = np.maximum(0, np.minimum(x2[best], x2[rest]) - np.maximum(x1[best], x1[rest]) + 1)
        height = np.maximum(0, np.minimum(y2[best], y2[rest]) - np.maximum(y1[best], y1[rest]) + 1)
        both = width * height
        order = rest[both / (areas[best] + areas[rest] - both) <= threshold]
    return found[kept]


@torch.inference_mode()
def detect(state, image, checkout=None):
    """[H,W,3] BGR to scores [N,2], offsets [N,4] and MuseTalk's box, i64 [1,4] or [0,4]."""
    net = Transcription(state)
    if checkout:
        if state["conv1_1.weight"].shape[0] != 64:
            raise SystemExit("MuseTalk's own face detector has the width 64: do without --musetalk")
        net = original(checkout)
        net.load_state_dict(state)
        net.eval()
    maps = net(network_input(image))
    rows = [one[0].permute(1, 2, 0).reshape(-1, one.shape[1]).numpy() for one in maps]
    faces = [face for face in suppress(decode(maps)) if face[4] > 0.5]
    box = np.zeros((0, 4), np.int64)
    if faces:
        box = np.clip(faces[0][None, :4], 0, None).astype(np.int64)
    return np.concatenate(rows[::2]), np.concatenate(rows[1::2]), box


def random_state(seed, width=64):
    """Weights of the published net's shapes (width 64), or narrower ones in proportion."""
    generator = torch.Generator().manual_seed(seed)
    state = OrderedDict()

    def conv(name, into, out, kernel, gain=2.0):
        scale = (gain / (into * kernel * kernel)) ** 0.5
        state[name + ".weight"] = scale * torch.randn(out, into, kernel, kernel, generator=generator)
        state[name + ".bias"] = 0.1 * torch.randn(out, generator=generator)

    def heads(name, into, classes):
        conv(name + "_mbox_conf", into, classes, 3, 1.0)
        conv(name + "_mbox_loc", into, 4, 3, 1.0)

    before = 3
    widths = (width, 2 * width, 4 * width, 8 * width, 8 * width)
    for block, (own, depth) in enumerate(zip(widths, DEPTHS, strict=True), 1):
        for i in range(1, depth + 1):
            # The picture's values are tens, not ones.
            conv(f"conv{block}_{i}", before, own, 3, 2.0 / 60**2 if before == 3 else 2.0)
            before = own
    conv("fc6", before, 16 * width, 3)
    conv("fc7", 16 * width, 16 * width, 1)
    conv("conv6_1", 16 * width, 4 * width, 1)
    conv("conv6_2", 4 * width, 8 * width, 3)
    conv("conv7_1", 8 * width, 2 * width, 1)
    conv("conv7_2", 2 * width, 4 * width, 3)
    for name, own, scale in zip(NORMALISED, widths[2:], (10, 8, 5), strict=True):
        state[name + ".weight"] = scale + torch.randn(own, generator=generator)
        heads(name, own, 4 if name == NORMALISED[0] else 2)
    for name, own in (("fc7", 16 * width), ("conv6_2", 8 * width), ("conv7_2", 4 * width)):
        heads(name, own, 2)
    return state
