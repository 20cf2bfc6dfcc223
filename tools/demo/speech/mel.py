"""Whisper's log-mel spectrogram, as navtalk computes it (gpu/features/mel.h), with an optional warp."""

from functools import lru_cache

import torch
from transformers.audio_utils import mel_filter_bank

RATE_HZ = 16000
FFT, HOP, BINS = 400, 160, 80
TOKEN_SAMPLES = 2 * HOP  # one whisper token
SEGMENT_TOKENS = 1500  # 30 s
FLOOR_BELOW_PEAK = 8.0  # decades


@lru_cache(maxsize=1)
def _filters() -> torch.Tensor:
    bank = mel_filter_bank(1 + FFT // 2, BINS, 0, 8000, RATE_HZ, norm="slaney", mel_scale="slaney")
    return torch.from_numpy(bank).float().T.contiguous()


def log_mel(samples: torch.Tensor, warp: float = 1.0) -> torch.Tensor:
    """[N] float32, N a multiple of 320, to [80, N / 160].

    `warp` != 1 reads the spectrum at frequency x warp: formants (and pitch) move, time does not.
    """
    window = torch.hann_window(FFT)
    spectrum = torch.stft(samples, FFT, HOP, window=window, center=True, return_complex=True)
    power = spectrum[:, :-1].abs() ** 2
    if warp != 1.0:
        power = _stretch(power, warp)
    logarithm = torch.clamp(_filters() @ power, min=1e-10).log10()
    return (torch.maximum(logarithm, logarithm.max() - FLOOR_BELOW_PEAK) + 4) / 4


def _stretch(power: torch.Tensor, warp: float) -> torch.Tensor:
    last = power.shape[0] - 1
    position = (torch.arange(last + 1) * warp).clamp(max=last)
    below = position.floor().long().clamp(max=last - 1)
    part = (position - below)[:, None]
    return power[below] * (1 - part) + power[below + 1] * part
