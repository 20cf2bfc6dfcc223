"""Where a fresh audio encoder begins: hearing loudly, and looking at its neighbours.

transformers draws whisper's weights so small that the sound hardly shows beside the positions, and a
self-attention learns only slowly that what matters is near. Here the convolutions keep the sound's
size, and each attention head begins with a soft window of about three tokens at an offset of its own:
queries and keys pick the fastest sinusoids of the positions, and turning the query's by offset x
frequency moves the peak of their product, the sum of cos(frequency (i - j + offset)).
"""

import torch

OFFSETS = ((-1, 1), (-3, 3), (-6, 6), (-2, 2))  # tokens, of each layer's two heads
FREQUENCIES = 10  # of the fastest, 1 to 0.07 radians a token
GAINS = (1.6, 2.4, 3.0, 2.6)  # of each layer's queries and keys; positions fade as states add up
SMALL = 0.3  # what is left of the other query and key weights


@torch.no_grad()
def begin(encoder: torch.nn.Module) -> None:
    """Sets all weights but the positions'."""
    for module in encoder.modules():
        if isinstance(module, torch.nn.Conv1d):
            torch.nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        elif isinstance(module, torch.nn.Linear):
            torch.nn.init.xavier_uniform_(module.weight)
    for layer, offsets, gain in zip(encoder.layers, OFFSETS, GAINS):
        for head, offset in enumerate(offsets):
            _look_at(layer.self_attn, head, offset, gain)


def _look_at(attention: torch.nn.Module, head: int, offset: int, gain: float) -> None:
    query, key = attention.q_proj, attention.k_proj
    width = query.in_features
    half, size = width // 2, width // attention.num_heads
    # As in transformers: sines in the first half of the channels, cosines in the second.
    frequency = 10000.0 ** (-torch.arange(FREQUENCIES) / (half - 1))
    sine = torch.arange(FREQUENCIES)
    cosine = half + sine
    first = head * size + sine
    second = first + FREQUENCIES
    rows = slice(head * size, (head + 1) * size)
    for projection in (query, key):
        projection.weight[rows] *= SMALL
        projection.weight[head * size : head * size + 2 * FREQUENCIES] = 0
    query.bias[rows] = 0
    turn_cosine, turn_sine = (gain * f(frequency * offset) for f in (torch.cos, torch.sin))
    query.weight[first, sine], query.weight[first, cosine] = turn_cosine, turn_sine
    query.weight[second, cosine], query.weight[second, sine] = turn_cosine, -turn_sine
    key.weight[first, sine] = gain
    key.weight[second, cosine] = gain
