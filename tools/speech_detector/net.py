"""The net: a dense layer, two gated recurrent layers, and whether somebody speaks."""

import torch

import features

DENSE, FIRST, SECOND = 56, 88, 64
DELAY = 7  # frames: the net's answer at frame f is about frame f - DELAY


class Detector(torch.nn.Module):
    """Features [B, T, features.COUNT] to logits [B, T]."""

    def __init__(self, dense: int = DENSE, first: int = FIRST, second: int = SECOND) -> None:
        super().__init__()
        self.dense = torch.nn.Linear(features.COUNT, dense)
        self.first = torch.nn.GRU(dense, first, batch_first=True)
        self.second = torch.nn.GRU(first, second, batch_first=True)
        self.answer = torch.nn.Linear(second, 1)

    def forward(self, heard: torch.Tensor) -> torch.Tensor:
        states, _ = self.first(torch.relu(self.dense(heard)))
        states, _ = self.second(states)
        return self.answer(states)[..., 0]


def detector_with(state: dict[str, torch.Tensor]) -> Detector:
    """A Detector with these weights, of their size."""
    sizes = len(state["dense.bias"]), len(state["first.bias_ih_l0"]) // 3, len(state["second.bias_ih_l0"]) // 3
    net = Detector(*sizes)
    net.load_state_dict(state)
    return net


def grown(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Weights for a Detector whose answers are those of another one with layers that are not larger.

    The units that are new hear all others, and nobody hears them yet.
    """
    made = {name: value.clone() for name, value in Detector().state_dict().items()}
    for name, old in state.items():
        gates = 3 if name.startswith(("first", "second")) else 1
        new = made[name].view(gates, -1, *made[name].shape[1:])  # a view
        old = old.float().view(gates, -1, *old.shape[1:])
        if old.dim() == 3:
            new[:, : old.shape[1], old.shape[2] :] = 0
            new[:, : old.shape[1], : old.shape[2]] = old
        else:
            new[:, : old.shape[1]] = old
    return made
