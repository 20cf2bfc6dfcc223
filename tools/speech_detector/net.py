"""The net: a dense layer, two gated recurrent layers, and whether somebody speaks."""

import torch

import features

DENSE, FIRST, SECOND = 48, 64, 48
DELAY = 7  # frames: the net's answer at frame f is about frame f - DELAY


class Detector(torch.nn.Module):
    """Features [B, T, features.COUNT] to logits [B, T]."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = torch.nn.Linear(features.COUNT, DENSE)
        self.first = torch.nn.GRU(DENSE, FIRST, batch_first=True)
        self.second = torch.nn.GRU(FIRST, SECOND, batch_first=True)
        self.answer = torch.nn.Linear(SECOND, 1)

    def forward(self, heard: torch.Tensor) -> torch.Tensor:
        states, _ = self.first(torch.relu(self.dense(heard)))
        states, _ = self.second(states)
        return self.answer(states)[..., 0]
