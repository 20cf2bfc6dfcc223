"""Makes the data, and trains the net on it."""

import sys
import time
from pathlib import Path

import numpy as np
import torch

import mixtures
import recordings
import voices
from features import features
from net import DELAY, Detector
from program import Failure
from training.run import Average, learning_rate

CLIPS_A_SHARD = 250
TRAINING = 1  # seeds the set
BATCH = 48
RATE = 3e-3
SPEECH_WEIGHT = 1.5  # a missed word is worse than a mouth that moves
MOST_OFTEN = 6.0  # as often as another clip comes one that the weights which a training begins with get wrong
POOL_SEED = 5


def synthetic_pool(work: Path, count: int) -> list[np.ndarray]:
    """Utterances by synthesisers, three of four by espeak-ng; kept in a file."""
    path = work / "voices.npz"
    if not path.exists():
        rng = np.random.default_rng(POOL_SEED)
        said = [voices.spoken_by_flite(rng) if k % 4 == 0 else voices.spoken(rng) for k in range(count)]
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = np.round(np.clip(np.concatenate(said), -1, 1) * 32767).astype(np.int16)
        np.savez(path, samples=whole, ends=np.cumsum([len(s) for s in said]))
    with np.load(path) as kept:
        return [s.astype(np.float32) / 32768 for s in np.split(kept["samples"], kept["ends"][:-1])]


def pools(work: Path, utterances: int) -> mixtures.Pools:
    def of(kind: str) -> list[np.ndarray]:
        return [sound for _, sound in recordings.load(work, kind, False)]

    return mixtures.Pools(
        of(recordings.SPEECH), synthetic_pool(work, utterances), of(recordings.SYLLABLES),
        of(recordings.MUSIC), of(recordings.PLAYED), of(recordings.NOISES),
    )  # fmt: skip


def make_data(work: Path, shards: int, utterances: int) -> None:
    (work / "clips").mkdir(parents=True, exist_ok=True)
    made = None
    for shard in range(shards):
        path = work / "clips" / f"{shard:03d}.npz"
        if path.exists():
            continue
        made = made or pools(work, utterances)
        clips = [mixtures.clip(made, TRAINING, shard * CLIPS_A_SHARD + k) for k in range(CLIPS_A_SHARD)]
        heard = np.stack([features(clip.samples) for clip in clips]).astype(np.float16)
        partial = path.with_suffix(".partial.npz")
        np.savez(partial, heard=heard, speaks=[c.speaks for c in clips], weights=[c.weights for c in clips])
        partial.rename(path)
        print(f"clips: shard {shard + 1} of {shards}", file=sys.stderr, flush=True)


def load_data(work: Path) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """heard [N, T, C] float16, speaks and weights [N, T] float32."""
    shards = [np.load(path) for path in sorted((work / "clips").glob("[0-9]*[0-9].npz"))]
    joined = [torch.from_numpy(np.concatenate([shard[name] for shard in shards])) for name in ("heard", "speaks", "weights")]
    return joined[0], joined[1].float(), joined[2]


def loss_of(net: Detector, heard: torch.Tensor, speaks: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    logits = net(heard)[:, DELAY:]
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, speaks[:, :-DELAY], reduction="none"
    )
    weights = weights[:, :-DELAY] * (1 + (SPEECH_WEIGHT - 1) * speaks[:, :-DELAY])
    return (loss * weights).sum() / weights.sum()


def trained(work: Path) -> dict[str, torch.Tensor]:
    """The averaged weights; Failure where there are none."""
    if not (work / "detector.pt").exists():
        raise Failure(f"{work / 'detector.pt'} is missing: run the stage train first")
    return torch.load(work / "detector.pt", weights_only=True)


@torch.no_grad()
def shares(net: Detector, heard: torch.Tensor, speaks: torch.Tensor, weights: torch.Tensor) -> np.ndarray:
    """How likely each clip [N] is drawn: the more, the more of it the net gets wrong."""
    wrong = []
    for begin in range(0, len(heard), 2 * BATCH):
        part = slice(begin, begin + 2 * BATCH)
        logits = net(heard[part].float())[:, DELAY:]
        losses = torch.nn.functional.binary_cross_entropy_with_logits(logits, speaks[part, :-DELAY], reduction="none")
        wrong.append(((losses * weights[part, :-DELAY]).sum(1) / (weights[part, :-DELAY].sum(1) + 1)).numpy())
    losses = np.concatenate(wrong)
    often = np.clip(1 + losses / losses.mean(), 1, MOST_OFTEN)
    return often / often.sum()


def train(work: Path, steps: int, begin_with: Path | None = None, rate: float = RATE) -> None:
    """All steps, from nothing or from another net's weights; then what these get wrong comes more often."""
    torch.manual_seed(7)
    heard, speaks, weights = load_data(work)
    net, often = Detector(), None
    if begin_with:
        net.load_state_dict(torch.load(begin_with, weights_only=True))
        often = shares(net, heard, speaks, weights)
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=1e-3)
    average = Average(net, 0.99)
    started_s, losses = time.monotonic(), []
    for step in range(steps):
        rng = np.random.default_rng([step, 77])
        chosen = torch.from_numpy(rng.choice(len(heard), BATCH, p=often))
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(step, steps, rate)
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(net, heard[chosen].float(), speaks[chosen], weights[chosen])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        average.update(net, step)
        losses.append(loss.item())
        if (step + 1) % 25 == 0:
            print(f"train: step {step + 1}/{steps} {time.monotonic() - started_s:.0f} s loss {np.mean(losses[-25:]):.4f}", file=sys.stderr, flush=True)
            torch.save(average.state, work / "detector.pt")
    torch.save(average.state, work / "detector.pt")
