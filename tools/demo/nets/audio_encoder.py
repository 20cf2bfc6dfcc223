"""Whisper's encoder, and the throw-away head that teaches it what a mouth does.

Each token of the encoder's last state predicts the mouth at its own time through one linear map. The
UNet finds the same eight numbers in the context with a single look: frame i's middle is token 2i + 1,
which is the sixth of the ten tokens that the frame sees.
"""

import torch

from speech.mel import SEGMENT_TOKENS, TOKEN_SAMPLES, log_mel
from speech.visemes import PARAMETERS

WINDOW_TOKENS = 10  # that a video frame sees, from 4 before to 5 after token 2i
TOKENS_BEFORE = 4
MIDDLE_TOKEN = 5  # of those ten: the frame's own time


class MouthReader(torch.nn.Module):
    """The encoder with its head."""

    def __init__(self, encoder: torch.nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = torch.nn.Linear(encoder.config.d_model, len(PARAMETERS))

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        """mel [B, 80, 2 T], T <= 1500, to mouths [B, T, 8]."""
        return self.head(hidden_states(self.encoder, mel)[:, :, -1])


def hidden_states(encoder: torch.nn.Module, mel: torch.Tensor) -> torch.Tensor:
    """mel [B, 80, 2 T] to the stacked states [B, T, layers + 1, D], the last one normed.

    The same as transformers' own forward pass, which takes whole segments of 30 s only.
    """
    gelu = torch.nn.functional.gelu
    state = gelu(encoder.conv2(gelu(encoder.conv1(mel)))).transpose(1, 2)
    state = state + encoder.embed_positions.weight[: state.shape[1]]
    states = [state]
    for layer in encoder.layers:
        state = layer(state, None)
        state = state[0] if isinstance(state, tuple) else state
        states.append(state)
    states[-1] = encoder.layer_norm(states[-1])
    return torch.stack(states, dim=2)


def encode_speech(encoder: torch.nn.Module, samples: torch.Tensor) -> torch.Tensor:
    """[N] at 16 kHz to the states [N // 320, layers + 1, D], segment by segment as at inference."""
    pieces = []
    whole = SEGMENT_TOKENS * TOKEN_SAMPLES
    for start in range(0, len(samples), whole):
        segment = samples[start : start + whole]
        padded = torch.nn.functional.pad(segment, (0, whole - len(segment)))
        pieces.append(hidden_states(encoder, log_mel(padded)[None])[0])
    return torch.cat(pieces)[: len(samples) // TOKEN_SAMPLES]


def frame_windows(states: torch.Tensor, frames: torch.Tensor) -> torch.Tensor:
    """States [T, S, D] and frame numbers [B] to contexts [B, 10 S, D] before the positional table."""
    padded = torch.nn.functional.pad(states, (0, 0, 0, 0, TOKENS_BEFORE, 2 * WINDOW_TOKENS))
    index = 2 * frames[:, None] + torch.arange(WINDOW_TOKENS)
    return padded[index].flatten(1, 2)


def positional_table(rows: int, width: int) -> torch.Tensor:
    """MuseTalk's sinusoids [rows, width], interleaved, added to every context."""
    angle = torch.arange(rows)[:, None] * torch.exp(
        torch.arange(0, width, 2) * (-torch.log(torch.tensor(10000.0)) / width)
    )
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)
