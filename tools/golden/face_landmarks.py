"""DWPose's landmarks (RTMPose for whole bodies): mmpose's own modules, a transcription of them, random weights.

The originals are on PyPI: mmpose==1.3.2, mmdet==3.3.0, mmcv-lite==2.1.0, mmengine (docs/golden.md says how to install
them). The transcription below needs none. Points are decoded in double, as mmpose 1.1.0 does it.
"""

import importlib.abc
import importlib.machinery
import sys
import types
from collections import OrderedDict

import cv2
import numpy as np
import torch
import torch.nn.functional as F

WIDTH, HEIGHT, POINTS, SPLIT = 288, 384, 133, 2
MEAN = (123.675, 116.28, 103.53)
STD = (58.395, 57.12, 57.375)
BLOCKS = (3, 6, 6, 3)
FILES = ("dwpose/dw-ll_ucoco_384.safetensors", "dwpose/dw-ll_ucoco_384.pth")

PAIRS = [(i, i + 1) for i in range(1, 17, 2)] + [(17 + i, 20 + i) for i in range(3)]
PAIRS += [(23 + i, 39 - i) for i in range(8)] + [(40 + i, 49 - i) for i in range(5)]
PAIRS += [(54, 58), (55, 57), (59, 68), (60, 67), (61, 66), (62, 65), (63, 70), (64, 69)]
PAIRS += [(71, 77), (72, 76), (73, 75), (78, 82), (79, 81), (83, 87), (84, 86), (88, 90)]
PAIRS += [(91 + i, 112 + i) for i in range(21)]
MIRRORED = list(range(POINTS))
for left, right in PAIRS:
    MIRRORED[left], MIRRORED[right] = right, left


def view_of(image):
    """Centre and size of what the net sees of a picture, float32."""
    height, width = image.shape[:2]
    center = np.array([width / 2, height / 2], np.float32)
    scale = np.array([width, height], np.float32) * np.float32(1.25)
    aspect = np.float32(WIDTH / HEIGHT)
    if scale[0] > scale[1] * aspect:
        scale[1] = scale[0] / aspect
    else:
        scale[0] = scale[1] * aspect
    return center, scale


def network_input(image):
    """[H,W,3] BGR to [1,3,384,288]."""
    center, scale = view_of(image)
    half = np.float32(scale[0] * np.float32(0.5))
    source = np.array([center, center + [0, -half], center + [-half, -half]], np.float32)
    target = np.array([[144, 192], [144, 48], [0, 48]], np.float32)
    matrix = cv2.getAffineTransform(source, target)
    seen = cv2.warpAffine(image, matrix, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR)
    x = torch.from_numpy(seen[:, :, ::-1].copy()).permute(2, 0, 1).float()
    return ((x - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1))[None]


class Transcription:
    """The net as a function of its state dict."""

    def __init__(self, state):
        self.state = state

    def __call__(self, x):
        for i, stride in enumerate((2, 1, 1)):
            x = self.unit(f"backbone.stem.{i}", x, stride)
        for stage in range(1, 5):
            name = f"backbone.stage{stage}"
            x = self.unit(name + ".0", x, 2)
            if stage == 4:
                x = self.unit(name + ".1.conv1", x)
                pooled = [F.max_pool2d(x, k, 1, k // 2) for k in (5, 9, 13)]
                x = self.unit(name + ".1.conv2", torch.cat((x, *pooled), 1))
            x = self.stage(name + (".2" if stage == 4 else ".1"), x, stage < 4)
        return self.head(x)

    def unit(self, name, x, stride=1):
        weight = self.state[name + ".conv.weight"]
        groups = x.shape[1] // weight.shape[1]
        x = F.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2, groups=groups)
        parts = ("running_mean", "running_var", "weight", "bias")
        return F.silu(F.batch_norm(x, *(self.state[f"{name}.bn.{part}"] for part in parts)))

    def stage(self, name, x, add):
        short, main, block = self.unit(name + ".short_conv", x), self.unit(name + ".main_conv", x), 0
        while f"{name}.blocks.{block}.conv1.conv.weight" in self.state:
            prefix = f"{name}.blocks.{block}"
            y = self.unit(prefix + ".conv1", main)
            y = self.unit(prefix + ".conv2.depthwise_conv", y)
            y = self.unit(prefix + ".conv2.pointwise_conv", y)
            main = y + main if add else y
            block += 1
        both = torch.cat((main, short), 1)
        gate = F.conv2d(
            both.mean((2, 3), keepdim=True),
            self.state[name + ".attention.fc.weight"],
            self.state[name + ".attention.fc.bias"],
        )
        return self.unit(name + ".final_conv", both * F.hardsigmoid(gate))

    def head(self, x):
        weight = self.state["head.final_layer.weight"]
        bias = self.state["head.final_layer.bias"]
        x = F.conv2d(x, weight, bias, padding=weight.shape[-1] // 2).flatten(2)
        tokens = self.scale("head.mlp.0.g", x) @ self.state["head.mlp.1.weight"].T
        gate = "head.gau."
        uv = F.silu(self.scale(gate + "ln.g", tokens) @ self.state[gate + "uv.weight"].T)
        keys = self.state[gate + "gamma"].shape[1]
        expanded = (uv.shape[-1] - keys) // 2
        u, v, base = uv.split((expanded, expanded, keys), -1)
        gamma, beta = self.state[gate + "gamma"], self.state[gate + "beta"]
        query, key = base * gamma[0] + beta[0], base * gamma[1] + beta[1]
        attention = torch.square(F.relu(query @ key.transpose(1, 2) / keys**0.5))
        points = tokens * self.state[gate + "res_scale.scale"]
        points = points + (u * (attention @ v)) @ self.state[gate + "o.weight"].T
        return points @ self.state["head.cls_x.weight"].T, points @ self.state["head.cls_y.weight"].T

    def scale(self, name, x):
        length = torch.linalg.norm(x, dim=-1, keepdim=True) * x.shape[-1] ** -0.5
        return x / length.clamp(min=1e-5) * self.state[name]


class Nothing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for packages that the originals import and never call here."""

    NAMES = ("mmcv.ops", "torchvision")

    def find_spec(self, name, path=None, target=None):
        if any(name == own or name.startswith(own + ".") for own in self.NAMES):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__version__ = "0.26.0"
        module.__getattr__ = self.attribute
        return module

    def exec_module(self, module):
        pass

    @staticmethod
    def attribute(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class Original:
    """mmdet's CSPNeXt and mmpose's RTMCCHead with the weights of a state dict, of the published sizes."""

    def __init__(self, state):
        sys.meta_path.insert(0, Nothing())
        from mmdet.models.backbones import CSPNeXt
        from mmpose.models.heads import RTMCCHead
        from mmpose.utils import register_all_modules

        register_all_modules()
        self.backbone = CSPNeXt(
            arch="P5",
            expand_ratio=0.5,
            deepen_factor=1.0,
            widen_factor=1.0,
            out_indices=(4,),
            channel_attention=True,
            norm_cfg={"type": "BN"},
            act_cfg={"type": "SiLU"},
        )
        attention = {"hidden_dims": 256, "s": 128, "expansion_factor": 2, "act_fn": "SiLU"}
        attention |= {"dropout_rate": 0.0, "drop_path": 0.0, "use_rel_bias": False, "pos_enc": False}
        self.head = RTMCCHead(
            in_channels=1024,
            out_channels=POINTS,
            input_size=(WIDTH, HEIGHT),
            in_featuremap_size=(WIDTH // 32, HEIGHT // 32),
            simcc_split_ratio=float(SPLIT),
            final_layer_kernel_size=7,
            gau_cfg=attention,
            decoder={
                "type": "SimCCLabel",
                "input_size": (WIDTH, HEIGHT),
                "sigma": (6.0, 6.93),
                "simcc_split_ratio": float(SPLIT),
                "normalize": False,
                "use_dark": False,
            },
        )
        for name, module in (("backbone.", self.backbone), ("head.", self.head)):
            own = {key.removeprefix(name): v for key, v in state.items() if key.startswith(name)}
            module.load_state_dict(own)
            module.eval()

    def __call__(self, x):
        return self.head(self.backbone(x))


def decode(bins_x, bins_y, image):
    """Bins [133,576] and [133,768] to points [133,2] in the picture, in double."""
    place = np.stack((bins_x.argmax(1), bins_y.argmax(1)), 1).astype(np.float32)
    place[np.minimum(bins_x.max(1), bins_y.max(1)) <= 0] = -1
    place /= np.float32(SPLIT)
    center, scale = view_of(image)
    return place / np.array([WIDTH, HEIGHT]) * scale + center - np.float32(0.5) * scale


@torch.inference_mode()
def find(state, image, originals=False):
    """[H,W,3] BGR to mean bins [133,576], [133,768] and points [133,2]."""
    if originals and state["backbone.stem.0.conv.weight"].shape[0] != 32:
        raise SystemExit("mmpose's own modules have the published sizes: do without --mmpose")
    net = Original(state) if originals else Transcription(state)
    x = network_input(image)
    direct, mirrored = net(x), net(x.flip(3))
    bins_x = (direct[0] + mirrored[0][:, MIRRORED].flip(-1)) * 0.5
    bins_y = (direct[1] + mirrored[1][:, MIRRORED]) * 0.5
    bins_x, bins_y = bins_x[0].numpy(), bins_y[0].numpy()
    return bins_x, bins_y, decode(bins_x, bins_y, image)


def random_state(seed, width=64):
    """Weights of the published net's shapes (width 64), or narrower ones in proportion."""
    generator = torch.Generator().manual_seed(seed)
    state = OrderedDict()

    def normal(name, *shape, gain=1.0):
        fan_in = int(np.prod(shape[1:]))
        state[name] = gain * fan_in**-0.5 * torch.randn(*shape, generator=generator)

    def around(name, middle, *shape):
        state[name] = middle + 0.1 * torch.randn(*shape, generator=generator)

    def unit(name, into, out, kernel):
        normal(name + ".conv.weight", out, into, kernel, kernel, gain=1.7)
        around(name + ".bn.weight", 1, out)
        around(name + ".bn.bias", 0, out)
        around(name + ".bn.running_mean", 0, out)
        state[name + ".bn.running_var"] = torch.empty(out).uniform_(0.7, 1.3, generator=generator)
        state[name + ".bn.num_batches_tracked"] = torch.tensor(1000)

    before = 3
    for i, own in enumerate((width // 2, width // 2, width)):
        unit(f"backbone.stem.{i}", before, own, 3)
        before = own
    for stage in range(1, 5):
        name, own = f"backbone.stage{stage}", before * 2
        half = own // 2
        unit(name + ".0", before, own, 3)
        if stage == 4:
            unit(name + ".1.conv1", own, half, 1)
            unit(name + ".1.conv2", 4 * half, own, 1)
        name += ".2" if stage == 4 else ".1"
        for part in ("main_conv", "short_conv"):
            unit(f"{name}.{part}", own, half, 1)
        unit(name + ".final_conv", own, own, 1)
        for block in range(BLOCKS[stage - 1]):
            prefix = f"{name}.blocks.{block}"
            unit(prefix + ".conv1", half, half, 3)
            unit(prefix + ".conv2.depthwise_conv", 1, half, 5)
            unit(prefix + ".conv2.pointwise_conv", half, half, 1)
        normal(name + ".attention.fc.weight", own, own, 1, 1)
        around(name + ".attention.fc.bias", 0, own)
        before = own
    hidden = 4 * width
    normal("head.final_layer.weight", POINTS, before, 7, 7)
    around("head.final_layer.bias", 0, POINTS)
    around("head.mlp.0.g", 1, 1)
    normal("head.mlp.1.weight", hidden, WIDTH // 32 * (HEIGHT // 32))
    around("head.gau.ln.g", 1, 1)
    normal("head.gau.uv.weight", 2 * 2 * hidden + hidden // 2, hidden)
    around("head.gau.gamma", 1, 2, hidden // 2)
    around("head.gau.beta", 0, 2, hidden // 2)
    normal("head.gau.o.weight", hidden, 2 * hidden, gain=0.1)
    around("head.gau.res_scale.scale", 1, hidden)
    normal("head.cls_x.weight", SPLIT * WIDTH, hidden)
    normal("head.cls_y.weight", SPLIT * HEIGHT, hidden)
    return state
