"""Makes the data, and trains the net on it."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

import mixtures
import playout
import recordings
import voices
from features import COUNT, HOP, features
from net import DELAY, Detector, grown
from program import Failure
from training.run import Average, learning_rate

CLIPS_A_SHARD = 250
TRAINING = 1  # seeds the set
BATCH = 64  # clips
SHORT_FRAMES = 350  # parts up to this length and longer ones are computed apart
LETTERS = 600  # by a synthesiser
RATE = 3e-3
SPEECH_WEIGHT = 1.5  # a missed word is worse than a mouth that moves
MOST_OFTEN = 4.0  # as often as one that the net gets right comes a clip that it got wrong lately
POOL_SEED = 5


def synthetic_pool(work: Path, count: int) -> list[np.ndarray]:
    """Utterances by synthesisers, three of four by espeak-ng; kept in a file."""
    return _kept_pool(work / "voices.npz", count, lambda k, rng: voices.spoken_by_flite(rng) if k % 4 == 0 else voices.spoken(rng))


def letter_pool(work: Path) -> list[np.ndarray]:
    """Letters and syllables by a synthesiser; kept in a file."""
    return _kept_pool(work / "letters.npz", LETTERS, lambda _, rng: voices.letter(rng))


def _kept_pool(path: Path, count: int, spoken: Callable[[int, np.random.Generator], np.ndarray]) -> list[np.ndarray]:
    if not path.exists():
        rng = np.random.default_rng(POOL_SEED)
        said = [spoken(k, rng) for k in range(count)]
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = np.round(np.clip(np.concatenate(said), -1, 1) * 32767).astype(np.int16)
        np.savez(path, samples=whole, ends=np.cumsum([len(s) for s in said]))
    with np.load(path) as kept:
        return [s.astype(np.float32) / 32768 for s in np.split(kept["samples"], kept["ends"][:-1])]


def pools(work: Path, utterances: int) -> mixtures.Pools:
    def of(kind: str) -> list[np.ndarray]:
        return [sound for _, sound in recordings.load(work, kind, False)]

    return mixtures.Pools(
        of(recordings.SPEECH), synthetic_pool(work, utterances), of(recordings.SYLLABLES) + letter_pool(work),
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
        parts = [(number, part) for number, clip in enumerate(clips) for part in parts_of(clip)]
        partial = path.with_suffix(".partial.npz")
        np.savez(
            partial, clips=[number for number, _ in parts], frames=[len(part[0]) for _, part in parts],
            heard=np.concatenate([part[0] for _, part in parts]).astype(np.float16),
            speaks=np.concatenate([part[1] for _, part in parts]), weights=np.concatenate([part[2] for _, part in parts]),
        )  # fmt: skip
        partial.rename(path)
        print(f"clips: shard {shard + 1} of {shards}", file=sys.stderr, flush=True)


def parts_of(clip: mixtures.Clip) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(features, speaks, weights) of what a net that is as new hears, from silence to silence, as in a session."""
    power_db = mixtures.frame_db(clip.samples)
    return [
        (features(clip.samples[begin * HOP : end * HOP]), clip.speaks[begin:end], clip.weights[begin:end])
        for begin, end in playout.heard_parts(power_db)
        if end - begin > DELAY and (power_db[begin:end] >= playout.SILENT_DB).any()
    ]


@dataclass(frozen=True)
class Data:
    """Parts one after the other: heard [N, C] float16, speaks and weights [N] float32, and which frames each clip's parts are."""

    heard: torch.Tensor
    speaks: torch.Tensor
    weights: torch.Tensor
    clips: list[list[tuple[int, int]]]  # begin, end

    def rows(self, parts: list[tuple[int, int]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """[B, T, C], [B, T], [B, T] of parts; nothing is asked of what a net hears after the end of a part."""
        longest = max(end - begin for begin, end in parts)
        heard = torch.zeros(len(parts), longest, COUNT)
        speaks, weights = torch.zeros(len(parts), longest), torch.zeros(len(parts), longest)
        for row, (begin, end) in enumerate(parts):
            heard[row, : end - begin] = self.heard[begin:end]
            speaks[row, : end - begin] = self.speaks[begin:end]
            weights[row, : end - begin - DELAY] = self.weights[begin : end - DELAY]
        return heard, speaks, weights


def load_data(work: Path) -> Data:
    shards = [dict(np.load(path)) for path in sorted((work / "clips").glob("[0-9]*[0-9].npz"))]
    clips: list[list[tuple[int, int]]] = []
    at = 0
    for shard in shards:
        first = len(clips)
        clips += [[] for _ in range(shard["clips"].max() + 1)]
        for number, frames in zip(shard["clips"], shard["frames"]):
            clips[first + number].append((at, at + int(frames)))
            at += int(frames)
    joined = [torch.from_numpy(np.concatenate([shard[name] for shard in shards])) for name in ("heard", "speaks", "weights")]
    return Data(joined[0], joined[1].float(), joined[2], [parts for parts in clips if parts])


def losses_of(net: Detector, heard: torch.Tensor, speaks: torch.Tensor, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What each part [B] adds to the loss, and how much was asked of it [B]."""
    losses = torch.nn.functional.binary_cross_entropy_with_logits(net(heard)[:, DELAY:], speaks[:, :-DELAY], reduction="none")
    weights = weights[:, :-DELAY] * (1 + (SPEECH_WEIGHT - 1) * speaks[:, :-DELAY])
    return (losses * weights).sum(1), weights.sum(1)


def trained(work: Path) -> dict[str, torch.Tensor]:
    """The averaged weights; Failure where there are none."""
    if not (work / "detector.pt").exists():
        raise Failure(f"{work / 'detector.pt'} is missing: run the stage train first")
    return torch.load(work / "detector.pt", weights_only=True)


def shares(lately: np.ndarray) -> np.ndarray:
    """How likely each clip [N] is drawn, from its loss when it was drawn last: the more, the more of it the net got wrong.

    nan: it was not drawn yet.
    """
    mean = 1.0 if np.isnan(lately).all() else np.nanmean(lately)
    often = np.clip(1 + np.nan_to_num(lately, nan=mean) / mean, 1, MOST_OFTEN)
    return often / often.sum()


def backward(net: Detector, data: Data, chosen: np.ndarray) -> np.ndarray:
    """Adds the gradient of the mean loss over clips; each one's own mean loss [B]."""
    parts = [(row, part) for row, clip in enumerate(chosen) for part in data.clips[clip]]
    groups = [[p for p in parts if (p[1][1] - p[1][0] <= SHORT_FRAMES) == short] for short in (True, False)]
    lost, asked = np.zeros(len(chosen)), np.full(len(chosen), 1e-3)
    # Of both groups together, before the first is computed.
    whole = sum(float((data.weights[b : e - DELAY] * (1 + (SPEECH_WEIGHT - 1) * data.speaks[b : e - DELAY])).sum()) for _, (b, e) in parts)
    for group in filter(None, groups):
        losses, weights = losses_of(net, *data.rows([part for _, part in group]))
        (losses.sum() / whole).backward()
        np.add.at(lost, [row for row, _ in group], losses.detach().numpy())
        np.add.at(asked, [row for row, _ in group], weights.numpy())
    return lost / asked


def train(work: Path, steps: int, begin_with: Path | None = None, rate: float = RATE) -> None:
    """All steps, from nothing or from another net's weights, which may be smaller; what it gets wrong comes more often."""
    torch.manual_seed(7)
    data, net = load_data(work), Detector()
    if begin_with:
        net.load_state_dict(grown(load_file(begin_with) if begin_with.suffix == ".safetensors" else torch.load(begin_with, weights_only=True)))
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=1e-3)
    average = Average(net, 0.99)
    lately = np.full(len(data.clips), np.nan)
    started_s, losses = time.monotonic(), []
    for step in range(steps):
        if step % 25 == 0:
            often = shares(lately)
        rng = np.random.default_rng([step, 77])
        chosen = rng.choice(len(data.clips), BATCH, replace=False, p=often)
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(step, steps, rate)
        optimiser.zero_grad(set_to_none=True)
        lately[chosen] = backward(net, data, chosen)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        average.update(net, step)
        losses.append(lately[chosen].mean())
        if (step + 1) % 25 == 0:
            print(f"train: step {step + 1}/{steps} {time.monotonic() - started_s:.0f} s loss {np.mean(losses[-25:]):.4f}", file=sys.stderr, flush=True)
            torch.save(average.state, work / "detector.pt")
    torch.save(average.state, work / "detector.pt")
