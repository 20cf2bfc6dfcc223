"""What the three trainings share: the learning rate, averaged weights, checkpoints, progress lines.

A training is a function of (its data, the step): every step draws its samples from a generator seeded
with the step, so one that was killed goes on as if nothing had happened.
"""

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from files import load_state, save_state
from program import Failure
from provenance import described, knows

WARM_UP_STEPS = 200
SETTLING = 0.35  # the last part of the steps, in which the learning rate falls
LAST_RATE = 0.03  # of the full rate


def learning_rate(step: int, steps: int, full: float) -> float:
    """Warm-up, then constant, then a cosine down to 3 %: a longer run only lengthens the middle."""
    settled = (step / steps - (1 - SETTLING)) / SETTLING
    decay = 1.0 if settled <= 0 else 0.5 * (1 + math.cos(math.pi * min(1.0, settled)))
    return full * min(1.0, (step + 1) / WARM_UP_STEPS) * (LAST_RATE + (1 - LAST_RATE) * decay)


class Average:
    """A running mean of a module's weights: what is evaluated and shipped."""

    def __init__(self, module: torch.nn.Module, decay: float) -> None:
        self.decay = decay
        self.state = {k: v.detach().clone() for k, v in module.state_dict().items()}

    def update(self, module: torch.nn.Module, step: int) -> None:
        keep = min(self.decay, (1 + step) / (10 + step))
        for key, value in module.state_dict().items():
            if value.is_floating_point():
                self.state[key].lerp_(value.detach(), 1 - keep)
            else:
                self.state[key].copy_(value)


class Run:
    """One training's module, optimiser and average, in DIR/NAME.pt.

    `made_of` are the nets that the training builds on, by name and step; a checkpoint that was made
    with others is left alone until the first save, and the training begins with `module` as given.
    """

    def __init__(
        self,
        path: Path,
        module: torch.nn.Module,
        rate: float,
        decay: float = 0.999,
        made_of: dict[str, int] | None = None,
        schedule: Callable[[int, int, float], float] = learning_rate,
    ) -> None:
        self.path, self.module, self.rate, self.schedule = path, module, rate, schedule
        self.made_of = made_of or {}
        weights = [p for p in module.parameters() if p.requires_grad]
        self.optimiser = torch.optim.AdamW(weights, lr=rate, betas=(0.9, 0.98), weight_decay=1e-3)
        self.weights, self.step, self.average = weights, 0, Average(module, decay)
        self.losses: dict[str, list[float]] = {}
        self.started_s = time.monotonic()
        state = load_state(path, next(module.parameters()).device)
        if state is not None and knows(state, self.made_of):
            self._go_on(state)
        elif state is not None:
            knew, now = described(state["made_of"]), described(self.made_of)
            self.say(f"was trained with {knew}; there are {now}: its steps begin anew")

    def _go_on(self, state: dict) -> None:
        if "optimiser" not in state:
            raise Failure(
                f"{self.path} holds exported weights, which this stage cannot train on: name another work folder"
            )
        self.module.load_state_dict(state["module"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.average.state = state["average"]
        self.step = state["step"]
        self.say(f"goes on from step {self.step}")
        if self.made_of and "made_of" not in state:
            self.say(f"does not say what it was trained with: taken for {described(self.made_of)}")
            self.save()  # from now on it does

    def generator(self) -> np.random.Generator:
        """This step's own random numbers."""
        return np.random.default_rng([self.step, 77])

    def advance(self, losses: dict[str, torch.Tensor], steps: int) -> None:
        """One optimiser step down the sum of the losses."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.schedule(self.step, steps, self.rate)
        self.optimiser.zero_grad(set_to_none=True)
        sum(losses.values()).backward()
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        self.optimiser.step()
        self.step += 1
        self.average.update(self.module, self.step)
        for name, value in losses.items():
            self.losses.setdefault(name, []).append(value.item())

    def save(self) -> None:
        save_state(
            self.path,
            {
                "module": self.module.state_dict(),
                "average": self.average.state,
                "optimiser": self.optimiser.state_dict(),
                "step": self.step,
            }
            | ({"made_of": self.made_of} if self.made_of else {}),
        )

    def report(self, steps: int) -> None:
        """A line with the mean losses since the last one."""
        means = " ".join(f"{name} {np.mean(values):.4f}" for name, values in self.losses.items())
        self.losses = {}
        self.say(f"step {self.step}/{steps} {time.monotonic() - self.started_s:.0f} s {means}")

    def say(self, line: str) -> None:
        print(f"{self.path.stem}: {line}", file=sys.stderr, flush=True)
