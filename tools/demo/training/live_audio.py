"""Trains the calmed audio encoder on for live sessions: short futures, and what is not speech.

    DIR/live.pt      weights as in calm.pt, and the step of the audio.pt that they come from
    DIR/hearing.pt   while it lasts, what is needed to go on

The encoder before this training is the teacher. It hears whole clean windows; the student hears up to
4 s of the same sound, cut off where a live session's sound ends, and sometimes a noise in it. The student
gives the same states at the ten tokens that a picture sees. Where nobody speaks, the target is what the
teacher gives for digital silence. The head and the UNet stay as they are.
"""

from pathlib import Path

import numpy as np
import torch

from files import load_state, save_state
from nets.audio_encoder import WINDOW_TOKENS, hidden_states
from nets.device import DEVICE
from speech import augment, speech_data
from speech.mel import TOKEN_SAMPLES, log_mel
from training import calm_audio, train_audio
from training.run import Run

STEPS, RATE = 1000, 6e-4
SEED = 992
REPORT_EVERY = 100
BATCH = 6
TOKENS = 400  # of the teacher's window
PAST_TOKENS = (60, 200)  # that the student hears up to the end of what a picture sees
SILENT_TOKENS = 50  # behind, as avatars/live/live_hearing.cpp adds them
SHARE_WHOLE, SHARE_NO_SPEECH, SHARE_NOISY = 0.25, 0.3, 0.4
NOISE_DB = (-75.0, -28.0)
STATES_WEIGHT, MOUTH_WEIGHT = 1.0, 1.0


def states_of(work: Path) -> tuple[dict, bool]:
    """{"average", "step"} of the encoder to use, and whether it has been trained for live sessions."""
    calmed, _ = calm_audio.states_of(work)
    live = load_state(work / "live.pt")
    is_live = live is not None and live["step"] == calmed["step"]
    return (live if is_live else calmed), is_live


def quiet_noise(count: int, rng: np.random.Generator) -> np.ndarray:
    """What lies below speech [count]: a noise, at times with a hum, of -75 to -28 dB."""
    sound = augment.coloured_noise(count, rng)
    if rng.random() < 0.2:
        sound = 0.7 * sound + 0.7 * augment.steady_tone(count, rng)
    return (10 ** (rng.uniform(*NOISE_DB) / 20) * sound).astype(np.float32)


def music(count: int, rng: np.random.Generator) -> np.ndarray:
    """Chords and single notes that fade, with beats of noise [count]; -50 to -10 dB."""
    sound = np.zeros(count, np.float32)
    beat = int(rng.uniform(0.15, 0.6) * augment.RATE_HZ)
    root_hz = rng.uniform(60, 300)
    for start in range(int(rng.integers(beat)), count, beat):
        take = min(count - start, int(rng.uniform(0.5, 4) * beat))
        fade = np.exp(-np.arange(take) / (rng.uniform(0.1, 1.0) * augment.RATE_HZ))
        for step in rng.choice(25, rng.integers(1, 5), replace=False):
            time = np.arange(take) / augment.RATE_HZ
            pitch = root_hz * 2 ** (step / 12)
            for partial in range(1, rng.integers(2, 7)):
                sound[start : start + take] += (
                    fade * np.sin(2 * np.pi * pitch * partial * time) / partial ** rng.uniform(0.7, 2)
                )
        if rng.random() < 0.4:
            hit = augment.coloured_noise(take, rng)
            sound[start : start + take] += 2 * hit * np.exp(-np.arange(take) / (0.04 * augment.RATE_HZ))
    return (10 ** (rng.uniform(-50, -10) / 20) * sound / (sound.std() + 1e-9)).astype(np.float32)


def not_speech(count: int, rng: np.random.Generator) -> np.ndarray:
    """Noise, tones or music [count]."""
    kind = rng.random()
    if kind < 0.25:
        return music(count, rng)
    return quiet_noise(count, rng) if kind < 0.55 else augment.no_speech(count, rng)


def spoken(clips, rng: np.random.Generator) -> np.ndarray:
    """TOKENS of clips, one after the other, from anywhere in the first."""
    pieces, count = [], 0
    while count < TOKENS * TOKEN_SAMPLES:
        voice, _ = clips[rng.integers(len(clips))]
        if not pieces:
            voice = voice[TOKEN_SAMPLES * int(rng.integers(len(voice) // TOKEN_SAMPLES)) :]
        voice = augment.apply(voice, augment.OF_A_VOICE, rng, 0.3)
        pieces.append(voice)
        count += len(voice)
    return np.concatenate(pieces)[: TOKENS * TOKEN_SAMPLES].astype(np.float32)


def pair(clips, past: int, rng: np.random.Generator):
    """The teacher's mel, the student's, and the token behind the ten that both are compared at."""
    speaks = rng.random() >= SHARE_NO_SPEECH
    sound = spoken(clips, rng) if speaks else np.zeros(TOKENS * TOKEN_SAMPLES, np.float32)
    end = int(rng.integers(200, TOKENS + 1))
    heard = sound[(end - past) * TOKEN_SAMPLES : end * TOKEN_SAMPLES]
    if not speaks:
        heard = not_speech(len(heard), rng)
    elif rng.random() < SHARE_NOISY:
        heard = heard + quiet_noise(len(heard), rng)
    heard = np.pad(heard, (0, SILENT_TOKENS * TOKEN_SAMPLES)).astype(np.float32)
    return log_mel(torch.from_numpy(sound)), log_mel(torch.from_numpy(heard)), end


def losses(student, teacher, clips, weights, scale, rng: np.random.Generator) -> dict:
    """How far the student's states and mouths are from the teacher's."""
    past = 2 * int(rng.integers(PAST_TOKENS[0] // 2, PAST_TOKENS[1] // 2 + 1))
    whole, cut, ends = zip(*(pair(clips, past, rng) for _ in range(BATCH)))
    whole, cut = torch.stack(whole).to(DEVICE), torch.stack(cut).to(DEVICE)
    with torch.no_grad():
        states = hidden_states(teacher.encoder, whole)
        target = torch.stack([s[end - WINDOW_TOKENS : end] for s, end in zip(states, ends)])
        read = teacher.head(target[:, :, -1])
    heard = hidden_states(student.encoder, cut)[:, past - WINDOW_TOKENS : past]
    mouths = student.head(heard[:, :, -1])
    terms = {
        "states": STATES_WEIGHT * ((heard[:, :, -1] - target[:, :, -1]) ** 2 / scale).mean(),
        "mouth": MOUTH_WEIGHT * (weights * (mouths - read) ** 2).mean(),
    }
    if rng.random() < SHARE_WHOLE:  # what is heard whole stays what it is
        same = hidden_states(student.encoder, whole[:2])[:, :, -1]
        bends = train_audio.losses(student.head(same), teacher.head(states[:2, :, -1]), weights)
        terms["whole"] = ((same - states[:2, :, -1]) ** 2 / scale).mean() + sum(bends.values())
    return terms


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
        decay=0.99,
        made_of={"audio": state["step"]},
        schedule=calm_audio.rate,
    )
    clips = speech_data.load(work, "train")
    weights = train_audio.loss_weights(clips)
    with torch.no_grad():
        mel = torch.stack([pair(clips, 200, np.random.default_rng([SEED, k]))[0] for k in range(8)])
        last = hidden_states(teacher.encoder, mel.to(DEVICE))[:, :, -1]
        scale = last.flatten(0, 1).var(0)
    while run.step < steps:
        rng = np.random.default_rng([SEED, run.step])
        run.advance(losses(student, teacher, clips, weights, scale, rng), steps)
        if run.step % REPORT_EVERY == 0:
            run.report(steps)
            run.save()
    save_state(work / "live.pt", {"average": run.average.state, "step": state["step"], "steps": steps})
    run.path.unlink(missing_ok=True)
