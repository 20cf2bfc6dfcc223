"""Speech with exact phoneme times from libespeak-ng, through ctypes.

The library is used as it is installed (Debian: libespeak-ng1 and espeak-ng-data). Its command-line
option --pho needs an MBROLA voice; the synthesis callback needs none, and reports the sample at which
each phoneme starts.
"""

import ctypes
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

AUDIO_OUTPUT_SYNCHRONOUS = 2
INITIALIZE_PHONEME_EVENTS = 1
EVENT_LIST_TERMINATED = 0
EVENT_PHONEME = 7
PARAMETER_RATE, PARAMETER_PITCH, PARAMETER_RANGE, PARAMETER_WORD_GAP = 1, 3, 4, 7
CHARS_UTF8 = 1
LANGUAGE_SWITCH = "("  # as in "(en)": not a sound


@dataclass(frozen=True)
class Phoneme:
    """One phoneme: espeak's mnemonic (pauses begin with "_") and its times in seconds."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Speech:
    """Mono samples [N] float32 in [-1, 1) at `rate_hz`, and the phonemes that they hold."""

    samples: np.ndarray
    rate_hz: int
    phonemes: tuple[Phoneme, ...]

    @property
    def duration_s(self) -> float:
        return len(self.samples) / self.rate_hz


class _Name(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class _Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _Name),
    ]


_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


class _Library:
    """libespeak-ng, initialised once a process; it is not thread-safe."""

    def __init__(self) -> None:
        self.espeak = ctypes.CDLL("libespeak-ng.so.1")
        self.rate_hz = self.espeak.espeak_Initialize(
            AUDIO_OUTPUT_SYNCHRONOUS, 0, None, INITIALIZE_PHONEME_EVENTS
        )
        if self.rate_hz <= 0:
            raise RuntimeError("espeak-ng does not start: install Debian's package espeak-ng-data")
        self.chunks: list[np.ndarray] = []
        self.starts: list[tuple[int, str]] = []
        self.callback = _CALLBACK(self._receive)  # kept alive for the library
        self.espeak.espeak_SetSynthCallback(self.callback)

    def _receive(self, wave, count: int, events) -> int:
        if count > 0:
            self.chunks.append(np.ctypeslib.as_array(wave, (count,)).copy())
        index = 0
        while events[index].type != EVENT_LIST_TERMINATED:
            if events[index].type == EVENT_PHONEME:
                name = events[index].id.string.decode("utf-8", "replace")
                if not name.startswith(LANGUAGE_SWITCH):
                    self.starts.append((events[index].sample, name))
            index += 1
        return 0


@lru_cache(maxsize=1)
def _library() -> _Library:
    return _Library()


def speak(
    text: str, voice: str, rate_wpm: int = 165, pitch: int = 50, pitch_range: int = 50, word_gap: int = 0
) -> Speech:
    """Speaks `text`.

    `voice` is a language, with a variant after "+" if wanted ("en-us+f3"); pitch and range are
    0..100, the gap between words is in units of 10 ms. ValueError for an unknown voice.
    """
    library = _library()
    espeak = library.espeak
    if espeak.espeak_SetVoiceByName(voice.encode()) != 0:
        raise ValueError(f"espeak-ng has no voice {voice!r}")
    for parameter, value in (
        (PARAMETER_RATE, rate_wpm),
        (PARAMETER_PITCH, pitch),
        (PARAMETER_RANGE, pitch_range),
        (PARAMETER_WORD_GAP, word_gap),
    ):
        espeak.espeak_SetParameter(parameter, int(value), 0)
    library.chunks, library.starts = [], []
    data = text.encode()
    espeak.espeak_Synth(data, len(data) + 1, 0, 0, 0, CHARS_UTF8, None, None)
    espeak.espeak_Synchronize()
    if not library.chunks:
        raise ValueError(f"espeak-ng says nothing for {text!r}")
    samples = np.concatenate(library.chunks).astype(np.float32) / 32768
    return Speech(samples, library.rate_hz, _with_ends(library.starts, library.rate_hz, len(samples)))


def _with_ends(starts: list[tuple[int, str]], rate_hz: int, count: int) -> tuple[Phoneme, ...]:
    ends = [sample for sample, _ in starts[1:]] + [count]
    return tuple(
        Phoneme(name, sample / rate_hz, end / rate_hz)
        for (sample, name), end in zip(starts, ends)
        if end > sample
    )
