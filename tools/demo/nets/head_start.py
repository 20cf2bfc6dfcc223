"""Where a fresh UNet begins: it copies the reference, and one attention head knows where to look.

Both could be learned, at the price of most of a short training; neither takes anything away from the
architecture. Afterwards every weight is trained like any other.

The copy. silu(x) - silu(-x) = x, so a latent survives the last activation as a pair of channels:

    conv_in: +z and -z of the reference in its first channels
      -> last skip -> conv_shortcut of the last residual block (what is added to them is zero at first)
      -> conv_norm_out -> silu -> conv_out: the difference of each pair

The look. Each cross-attention's first head gets a key that is large in the middle token's last state
alone (fitted; the positional table makes it easy), a query that is constant, and as values the eight
mouth parameters that the encoder's head reads there.
"""

import torch
import torch.nn.functional as F

from nets.audio_encoder import MIDDLE_TOKEN
from nets.sizes import STATES

MIDDLE_ROW = MIDDLE_TOKEN * STATES + STATES - 1
LATENT = 4
QUERY = 4.0  # the constant part of the first head's query
SMALL = 0.1  # what is left of the other weights of the output layer
FIT_STEPS, FIT_BATCH, FIT_RATE = 300, 256, 0.1


def middle_key(contexts: torch.Tensor) -> torch.Tensor:
    """A vector [D] whose product with a context's rows [N, 50, D] is by far largest in row 29."""
    key = torch.zeros(contexts.shape[2], requires_grad=True)
    optimiser = torch.optim.Adam([key], lr=FIT_RATE)
    generator = torch.Generator().manual_seed(0)
    for _ in range(FIT_STEPS):
        chosen = torch.randint(len(contexts), (FIT_BATCH,), generator=generator)
        wanted = torch.full((FIT_BATCH,), MIDDLE_ROW)
        loss = F.cross_entropy(contexts[chosen] @ key, wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return key.detach()


@torch.no_grad()
def copy_reference(unet: torch.nn.Module) -> None:
    """The UNet's output becomes (nearly: the norm rescales it) channels 4..7 of its input."""
    pairs = 2 * LATENT
    middle = (slice(None), slice(None), 1, 1)
    unet.conv_in.weight[:pairs] = 0
    unet.conv_in.bias[:pairs] = 0
    unet.conv_out.weight *= SMALL
    unet.conv_out.weight[:, :pairs] = 0
    unet.conv_out.bias[:] = 0
    for k in range(LATENT):
        for channel, sign in ((2 * k, 1.0), (2 * k + 1, -1.0)):
            unet.conv_in.weight[middle][channel, LATENT + k] = sign
            unet.conv_out.weight[middle][k, channel] = sign
    block = unet.up_blocks[-1]
    last = block.resnets[-1]
    skipped = last.conv_shortcut.in_channels - unet.conv_in.out_channels
    last.conv_shortcut.weight[:pairs] = 0
    last.conv_shortcut.bias[:pairs] = 0
    for channel in range(pairs):
        last.conv_shortcut.weight[channel, skipped + channel] = 1
    for layer in (last.conv2, block.attentions[-1].proj_out):
        layer.weight[:pairs] = 0
        layer.bias[:pairs] = 0


@torch.no_grad()
def look_at_middle(unet: torch.nn.Module, key: torch.Tensor, mouth: torch.Tensor) -> None:
    """`key` [D] as of middle_key; `mouth` [8, D]: the head's weights, scaled to unit variance."""
    for name, block in unet.named_modules():
        if not name.endswith("transformer_blocks.0"):
            continue
        attention = block.attn2
        size = attention.to_k.out_features // attention.heads
        block.norm2.bias[0] = QUERY
        attention.to_q.weight[0] = 0
        attention.to_q.weight[0, 0] = 1
        attention.to_k.weight[0] = key * size**0.5 / QUERY
        attention.to_q.weight[1:size] *= SMALL
        attention.to_k.weight[1:size] *= SMALL
        attention.to_v.weight[: len(mouth)] = mouth
        # The other heads begin quietly: the encoder's middle states are large.
        attention.to_k.weight[size:] *= SMALL
        attention.to_v.weight[len(mouth) :] *= SMALL
