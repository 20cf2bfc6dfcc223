"""The device that trainings run on: a GPU where there is one, else the CPU.

Data are made on the CPU; only the three trainings, and what evaluation generates, use it.
"""

import torch

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def half_precision():
    """bfloat16 where it is safe, for a with statement."""
    return torch.autocast(DEVICE.type, torch.bfloat16)
