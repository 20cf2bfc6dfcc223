"""usage: musetalk_exchange_test.py NAVTALK AVATAR   imports MuseTalk's AVATAR, exports it, and reads the export as Python does

latents.pt is read by torch.load where torch is there, otherwise by zipfile and pickle, which make of a storage what torch does.
"""

import collections
import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import zipfile


class TensorReader(pickle.Unpickler):
    """Each tensor as its shape and its values."""

    def __init__(self, archive, folder):
        super().__init__(archive.open(f"{folder}/data.pkl"))
        self.archive, self.folder = archive, folder

    def find_class(self, module, name):
        known = {
            ("collections", "OrderedDict"): collections.OrderedDict,
            ("torch", "FloatStorage"): "f",
            ("torch._utils", "_rebuild_tensor_v2"): self.tensor,
        }
        return known[module, name]

    def persistent_load(self, found):
        kind, code, key, _location, count = found
        assert kind == "storage", kind
        return struct.unpack(f"<{count}{code}", self.archive.read(f"{self.folder}/data/{key}"))

    @staticmethod
    def tensor(storage, offset, shape, strides, _requires_grad, _hooks):
        assert strides == (8192, 1024, 32, 1), strides
        return shape, storage[offset : offset + 8192]


def exported_latents(path):
    try:
        import torch
    except ImportError:
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            return TensorReader(archive, "latents").load()
    return [(tuple(tensor.shape), tuple(tensor.flatten().tolist())) for tensor in torch.load(path)]


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main(navtalk, python):
    with tempfile.TemporaryDirectory() as top:
        avatar, export = os.path.join(top, "lena"), os.path.join(top, "export")
        run(navtalk, "avatar", "import", python, avatar)
        run(navtalk, "avatar", "export", avatar, export)
        for name in ("coords.pkl", "mask_coords.pkl"):
            with open(os.path.join(export, name), "rb") as file:
                boxes = pickle.load(file)
            assert len(boxes) == 6 and all(len(box) == 4 for box in boxes), boxes
            assert boxes == boxes[::-1] and boxes[0] != boxes[1], boxes
            if name == "coords.pkl":
                assert boxes[:3] == [[20, 14, 63, 61], [24, 15, 66, 64], [52, 20, 99, 70]], boxes
        latents = exported_latents(os.path.join(export, "latents.pt"))
        assert len(latents) == 6 and latents == latents[::-1]
        with zipfile.ZipFile(os.path.join(python, "latents.pt")) as archive:
            for i in range(3):
                half = struct.unpack("<8192e", archive.read(f"latents/data/{i}"))
                assert latents[i] == ((1, 8, 32, 32), half), i
        for name in ("full_imgs", "mask"):
            names = sorted(os.listdir(os.path.join(export, name)))
            assert names == [f"{i:08d}.png" for i in range(6)], names
        with open(os.path.join(export, "avator_info.json")) as file:
            info = json.load(file)
        assert (info["avatar_id"], info["version"]) == ("lena-1", "v15"), info


main(*sys.argv[1:])
