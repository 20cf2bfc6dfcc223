"""MuseTalk's face parsing (BiSeNet on ResNet-18): the original module, a transcription of it, random weights.

The original is plain PyTorch in MuseTalk's repository, which is no package: name a checkout of
commit 0a89dec45a0192b824e3cf4daf96c239440c5ed8 to run it. The transcription below needs none.
"""

import importlib
import sys
import types
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

SIZE = 512
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
FILES = ("face-parse-bisent/79999_iter.safetensors", "face-parse-bisent/79999_iter.pth")


def network_input(image):
    """[H,W,3] BGR to [1,3,512,512], as MuseTalk's transforms do it."""
    picture = Image.fromarray(np.ascontiguousarray(image[:, :, ::-1]))
    picture = picture.resize((SIZE, SIZE), Image.BILINEAR)
    x = torch.from_numpy(np.array(picture)).permute(2, 0, 1).contiguous().float().div(255)
    return ((x - torch.tensor(MEAN)[:, None, None]) / torch.tensor(STD)[:, None, None])[None]


class Transcription:
    """The net as a function of its state dict."""

    def __init__(self, state):
        self.state = state

    def __call__(self, x):
        f8, f16, f32 = self.resnet(x)
        around = self.unit("cp.conv_avg", f32.mean((2, 3), keepdim=True))
        up16 = F.interpolate(self.refine("cp.arm32", f32) + around, scale_factor=2, mode="nearest")
        at16 = self.unit("cp.conv_head32", up16)
        up8 = F.interpolate(self.refine("cp.arm16", f16) + at16, scale_factor=2, mode="nearest")
        at8 = self.unit("cp.conv_head16", up8)
        z = self.unit("ffm.convblk", torch.cat((f8, at8), 1))
        gate = torch.relu(self.conv("ffm.conv1", z.mean((2, 3), keepdim=True)))
        z = z * torch.sigmoid(self.conv("ffm.conv2", gate)) + z
        scores = self.conv("conv_out.conv_out", self.unit("conv_out.conv", z))
        return F.interpolate(scores, x.shape[2:], mode="bilinear", align_corners=True)

    def conv(self, name, x, stride=1):
        weight = self.state[name + ".weight"]
        return F.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    def norm(self, name, x):
        parts = ("running_mean", "running_var", "weight", "bias")
        return F.batch_norm(x, *(self.state[f"{name}.{part}"] for part in parts))

    def unit(self, name, x):
        return torch.relu(self.norm(name + ".bn", self.conv(name + ".conv", x)))

    def refine(self, name, x):
        x = self.unit(name + ".conv", x)
        gate = self.conv(name + ".conv_atten", x.mean((2, 3), keepdim=True))
        return x * torch.sigmoid(self.norm(name + ".bn_atten", gate))

    def block(self, name, x, stride):
        y = torch.relu(self.norm(name + ".bn1", self.conv(name + ".conv1", x, stride)))
        y = self.norm(name + ".bn2", self.conv(name + ".conv2", y))
        if name + ".downsample.0.weight" in self.state:
            x = self.norm(name + ".downsample.1", self.conv(name + ".downsample.0", x, stride))
        return torch.relu(x + y)

    def resnet(self, x):
        x = torch.relu(self.norm("cp.resnet.bn1", self.conv("cp.resnet.conv1", x, 2)))
        x = F.max_pool2d(x, 3, 2, 1)
        maps = []
        for layer in range(1, 5):
            x = self.block(f"cp.resnet.layer{layer}.0", x, 1 if layer == 1 else 2)
            x = self.block(f"cp.resnet.layer{layer}.1", x, 1)
            maps.append(x)
        return maps[1:]


def original(checkout):
    """MuseTalk's own module, freshly made; its backbone's initial weights are not asked for."""
    sys.path.insert(0, str(Path(checkout) / "musetalk" / "utils"))
    sys.modules.setdefault("torchvision", types.ModuleType("torchvision"))  # imported, never used
    # The package's __init__ imports more of torchvision than the net needs.
    package = types.ModuleType("face_parsing")
    package.__path__ = [str(Path(checkout) / "musetalk" / "utils" / "face_parsing")]
    sys.modules["face_parsing"] = package
    importlib.import_module("face_parsing.resnet").Resnet18.init_weight = lambda net, path: None
    return importlib.import_module("face_parsing.model").BiSeNet()


@torch.inference_mode()
def parse(state, image, checkout=None):
    """[H,W,3] BGR to scores [19,512,512] and parts u8 [512,512]."""
    net = Transcription(state)
    if checkout:
        if state["cp.resnet.conv1.weight"].shape[0] != 64:
            raise SystemExit("MuseTalk's own face parsing has the width 64: do without --musetalk")
        net = original(checkout)
        net.load_state_dict(state)
        net.eval()
    output = net(network_input(image))
    scores = (output if torch.is_tensor(output) else output[0])[0].numpy()
    return scores, scores.argmax(0).astype(np.uint8)


def random_state(seed, width=64):
    """Weights of the published net's shapes (width 64), or narrower ones in proportion."""
    generator = torch.Generator().manual_seed(seed)
    state = OrderedDict()

    def conv(name, into, out, kernel):
        fan_in = into * kernel * kernel
        weight = torch.randn(out, into, kernel, kernel, generator=generator)
        state[name + ".weight"] = weight * (2 / fan_in) ** 0.5

    def norm(name, channels):
        state[name + ".weight"] = torch.empty(channels).uniform_(0.7, 1.3, generator=generator)
        state[name + ".bias"] = 0.1 * torch.randn(channels, generator=generator)
        state[name + ".running_mean"] = 0.1 * torch.randn(channels, generator=generator)
        state[name + ".running_var"] = torch.empty(channels).uniform_(0.7, 1.3, generator=generator)
        state[name + ".num_batches_tracked"] = torch.tensor(80000)

    def unit(name, into, out, kernel):
        conv(name + ".conv", into, out, kernel)
        norm(name + ".bn", out)

    conv("cp.resnet.conv1", 3, width, 7)
    norm("cp.resnet.bn1", width)
    before = width
    for layer in range(1, 5):
        own = width * 2 ** (layer - 1)
        for block in (0, 1):
            name = f"cp.resnet.layer{layer}.{block}"
            conv(name + ".conv1", before, own, 3)
            norm(name + ".bn1", own)
            conv(name + ".conv2", own, own, 3)
            norm(name + ".bn2", own)
            if before != own:
                conv(name + ".downsample.0", before, own, 1)
                norm(name + ".downsample.1", own)
            before = own
    for name, into in (("cp.arm16", 4 * width), ("cp.arm32", 8 * width)):
        unit(name + ".conv", into, 2 * width, 3)
        conv(name + ".conv_atten", 2 * width, 2 * width, 1)
        norm(name + ".bn_atten", 2 * width)
    unit("cp.conv_head32", 2 * width, 2 * width, 3)
    unit("cp.conv_head16", 2 * width, 2 * width, 3)
    unit("cp.conv_avg", 8 * width, 2 * width, 1)
    unit("ffm.convblk", 4 * width, 4 * width, 1)
    conv("ffm.conv1", 4 * width, width, 1)
    conv("ffm.conv2", width, 4 * width, 1)
    outputs = (("conv_out", 4, 4), ("conv_out16", 2, 1), ("conv_out32", 2, 1))
    for name, into, middle in outputs:
        unit(name + ".conv", into * width, middle * width, 3)
        conv(name + ".conv_out", middle * width, 19, 1)
    return state
