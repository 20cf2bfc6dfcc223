"""Trains the calmed audio encoder on for live sessions: short futures, and what is not speech.

    DIR/live.pt      weights as in calm.pt, and the step of the audio.pt that they come from
    DIR/hearing.pt   while it lasts, what is needed to go on

The head stays as it is: it reads what the UNet reads, so the UNet needs no further training. The encoder
learns the mouth that the head shall read:

- where somebody speaks, a mean of the phonemes' mouth, where that is known, and of what the encoder before
  this training (the teacher) reads from the same window without the other sounds;
- where nobody speaks, what the teacher reads from digital silence, however loud rooms, tones and music are.

Every second step hears as a live session does: three neighbouring pictures, each with a past of its own,
sound up to 80 ms after the picture, and silence behind. The other steps hear whole windows, some of them
of 30 s, as a recording is heard.
"""

from pathlib import Path

import numpy as np
import torch

from files import load_state, save_state
from nets.audio_encoder import MIDDLE_TOKEN, WINDOW_TOKENS, hidden_states
from nets.device import DEVICE
from speech import speech_data
from speech.mel import TOKEN_SAMPLES, log_mel
from training import calm_audio, train_audio
from training.live_sounds import Sound, behind_a_recording, sound_of
from training.run import Run

STEPS, RATE = 7000, 1e-3
SEED = 992
REPORT_EVERY = 100
TOKENS = 300  # of a window
WINDOWS = 5  # in a step that hears them whole
SHARE_SEGMENTS = 0.1  # of those steps: one window of 30 s, most of it silent as behind a short recording
SHARE_LIVE = 0.5
SOUNDS, PICTURES = 3, 3  # of a step that hears as a live session does: sounds, and neighbouring pictures of each
PAST_TOKENS = (60, 200)  # that a live session hears up to the end of what a picture sees
SILENT_TOKENS = (50, 100)  # behind, as avatars/live/live_hearing.cpp adds them
SETTLED_TOKENS = 20  # a word whose beginning was cut off cannot be known
KNOWN_AFTER = WINDOW_TOKENS - MIDDLE_TOKEN  # tokens from a picture's own to the end of the sound
PLAIN_SHARDS, PLAIN_SHARE = 6, 0.45  # of clips by flite, whose mouths the teacher reads alone
TEACHERS_PART = 0.6  # of what is asked for where somebody speaks
SHOWN_WEIGHT, STATES_WEIGHT, REST_WEIGHT, TREMBLE = 1.0, 0.05, 0.15, 10.0


def states_of(work: Path) -> tuple[dict, bool]:
    """{"average", "step"} of the encoder to use, and whether it has been trained for live sessions."""
    calmed, _ = calm_audio.states_of(work)
    live = load_state(work / "live.pt")
    is_live = live is not None and live["step"] == calmed["step"]
    return (live if is_live else calmed), is_live


def asked(teacher, sound: Sound, resting: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mouths [T, 8] and last states [T, D] that the student shall give."""
    tokens = len(sound.track)
    if not sound.said.any():
        return teacher.head(resting).expand(tokens, -1), resting.expand(tokens, -1)
    states = hidden_states(teacher.encoder, sound.mel_of(sound.said)[None].to(DEVICE))[0, :, -1]
    mouths, track = teacher.head(states), torch.from_numpy(sound.track).to(DEVICE)
    track = torch.where(track.isnan(), mouths, track)
    return TEACHERS_PART * mouths + (1 - TEACHERS_PART) * track, states


def cuts(sound: Sound, past: int, end: int, silent: int) -> torch.Tensor:
    """Mels [PICTURES, 80, 2 (past + silent)]: the sound up to `end` and to what each later picture knows."""
    mels = []
    for picture in range(PICTURES):
        stop = end + train_audio.TOKENS_A_FRAME * picture
        heard = sound.heard[(stop - past) * TOKEN_SAMPLES : stop * TOKEN_SAMPLES]
        mels.append(sound.mel_of(np.pad(heard, (0, silent * TOKEN_SAMPLES))))
    return torch.stack(mels)


class Losses:
    """How far the student is from what is asked of it; `weights` [8] of mouths, `scale` [D] of states."""

    def __init__(self, student, teacher, clips, weights, scale, resting) -> None:
        self.student, self.teacher, self.clips = student, teacher, clips
        self.weights, self.scale, self.resting = weights, scale, resting

    def __call__(self, rng: np.random.Generator) -> dict[str, torch.Tensor]:
        return self.live(rng) if rng.random() < SHARE_LIVE else self.whole(rng)

    def whole(self, rng: np.random.Generator) -> dict[str, torch.Tensor]:
        if rng.random() < SHARE_SEGMENTS:
            sounds = [behind_a_recording(sound_of(self.clips, TOKENS, rng))]
        else:
            sounds = [sound_of(self.clips, TOKENS, rng) for _ in range(WINDOWS)]
        mels = torch.stack([sound.mel_of(sound.heard) for sound in sounds]).to(DEVICE)
        states = hidden_states(self.student.encoder, mels)[:, :, -1]
        mouths, target = self.student.head(states), [self.asked(sound) for sound in sounds]
        want, want_states = (torch.stack([each[k] for each in target]) for k in (0, 1))
        terms = train_audio.losses(mouths, want, self.weights)
        terms["tremble"] = TREMBLE * terms["tremble"]
        return terms | self.of_states(states, want_states) | self.rest(mouths, want, sounds)

    def live(self, rng: np.random.Generator) -> dict[str, torch.Tensor]:
        past = 2 * int(rng.integers(PAST_TOKENS[0] // 2, PAST_TOKENS[1] // 2 + 1))
        silent = int(rng.integers(SILENT_TOKENS[0], SILENT_TOKENS[1]))
        last = TOKENS - train_audio.TOKENS_A_FRAME * (PICTURES - 1)
        sounds = [sound_of(self.clips, TOKENS, rng) for _ in range(SOUNDS)]
        ends = [int(rng.integers(PAST_TOKENS[1], last + 1)) for _ in sounds]
        mels = torch.cat([cuts(sound, past, end, silent) for sound, end in zip(sounds, ends)]).to(DEVICE)
        states = hidden_states(self.student.encoder, mels)[:, SETTLED_TOKENS : past - KNOWN_AFTER + 1, -1]
        mouths = self.student.head(states).unflatten(0, (SOUNDS, PICTURES))
        want, want_states = [], []
        for sound, end in zip(sounds, ends):
            mouth, state = self.asked(sound)
            for picture in range(PICTURES):
                stop = end + train_audio.TOKENS_A_FRAME * picture
                heard = slice(stop - past + SETTLED_TOKENS, stop - KNOWN_AFTER + 1)
                want.append(mouth[heard])
                want_states.append(state[heard])
        want = torch.stack(want).unflatten(0, (SOUNDS, PICTURES))
        terms = {"mouth": (self.weights * (mouths - want) ** 2).mean()} | self.of_pictures(mouths, want)
        every = [sound for sound in sounds for _ in range(PICTURES)]
        return (
            terms
            | self.of_states(states, torch.stack(want_states))
            | self.rest(mouths.flatten(0, 1), want.flatten(0, 1), every)
        )

    def of_pictures(self, mouths: torch.Tensor, want: torch.Tensor) -> dict[str, torch.Tensor]:
        """What is shown, the last of mouths [SOUNDS, PICTURES, T, 8], and how it bends from picture to picture."""
        last = (each[:, :, -1].repeat_interleave(train_audio.TOKENS_A_FRAME, 1) for each in (mouths, want))
        terms = train_audio.losses(*last, self.weights)
        return {"shown": SHOWN_WEIGHT * terms["mouth"], "jitter": TREMBLE * terms["tremble"]}

    def asked(self, sound: Sound) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.no_grad():
            return asked(self.teacher, sound, self.resting)

    def of_states(self, states: torch.Tensor, want: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"states": STATES_WEIGHT * ((states - want) ** 2 / self.scale).mean()}

    def rest(self, mouths: torch.Tensor, want: torch.Tensor, sounds: list[Sound]) -> dict[str, torch.Tensor]:
        """Absolute errors where nobody speaks: squares hardly count a mouth that is open by a little."""
        quiet = torch.tensor([not sound.said.any() for sound in sounds], device=mouths.device)
        error = (self.weights * (mouths - want).abs()).mean((1, 2))
        return {"rest": REST_WEIGHT * (error * quiet).mean()}


@torch.no_grad()
def begin(teacher, clips) -> tuple[torch.Tensor, torch.Tensor]:
    """The spread of the teacher's last states [D], and its state of digital silence [D]."""
    said = [sound_of(clips, TOKENS, np.random.default_rng([SEED, k])).said for k in range(12)]
    mels = torch.stack([log_mel(torch.from_numpy(samples)) for samples in [*said, np.zeros_like(said[0])]])
    states = hidden_states(teacher.encoder, mels.to(DEVICE))[:, :, -1]
    return states[:-1].flatten(0, 1).var(0), states[-1].mean(0)


def plain_clips(work: Path) -> list:
    """Speech by flite, made where it is not there."""
    for shard in range(PLAIN_SHARDS):
        speech_data.make_shard(work, "plain", shard)
    return speech_data.load(work, "plain")


def mixed(clips: list, plain: list) -> list:
    """All clips, the plain ones as often as they make PLAIN_SHARE of all."""
    wanted = round(len(clips) * PLAIN_SHARE / (1 - PLAIN_SHARE))
    return clips + [plain[k % len(plain)] for k in range(wanted)]


def train(work: Path, steps: int = STEPS) -> None:
    """Writes DIR/live.pt; nothing to do where it belongs to the nets that are there."""
    state, is_live = states_of(work)
    if is_live:
        return
    teacher = calm_audio.reader_of(state).to(DEVICE)
    student = calm_audio.reader_of(state).to(DEVICE).train()
    student.encoder.requires_grad_(True)
    student.encoder.embed_positions.requires_grad_(False)
    run = Run(
        work / "hearing.pt",
        student,
        RATE,
        decay=0.995,
        made_of={"audio": state["step"]},
        schedule=calm_audio.rate,
    )
    clips = speech_data.load(work, "train")
    weights = train_audio.loss_weights(clips)
    clips = mixed(clips, plain_clips(work))
    losses = Losses(student, teacher, clips, weights, *begin(teacher, clips))
    while run.step < steps:
        run.advance(losses(np.random.default_rng([SEED, run.step])), steps)
        if run.step % REPORT_EVERY == 0:
            run.report(steps)
            run.save()
    save_state(work / "live.pt", {"average": run.average.state, "step": state["step"], "steps": steps})
    run.path.unlink(missing_ok=True)
