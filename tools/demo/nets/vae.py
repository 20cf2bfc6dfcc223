"""The VAE as navtalk uses it: mean latents, scaled, in bfloat16 where that is faster."""

import numpy as np
import torch

from faces.framing import masked
from nets.device import DEVICE, half_precision

SCALE = 0.18215
ENCODE_BATCH = 16


def to_net(crops: np.ndarray) -> torch.Tensor:
    """uint8 [N, H, W, 3] RGB to float [N, 3, H, W] in [-1, 1]."""
    pixels = torch.from_numpy(np.ascontiguousarray(crops)).to(DEVICE)
    picture = pixels.permute(0, 3, 1, 2).float()
    return ((picture / 255 - 0.5) / 0.5).contiguous()


def to_pixels(picture: torch.Tensor) -> np.ndarray:
    """[N, 3, H, W] to uint8 [N, H, W, 3], rounded as navtalk rounds."""
    values = ((picture.float() / 2 + 0.5).clamp(0, 1) * 255).round()
    return values.byte().permute(0, 2, 3, 1).contiguous().cpu().numpy()


def encode(vae: torch.nn.Module, picture: torch.Tensor) -> torch.Tensor:
    """[N, 3, H, W] to scaled mean latents [N, 4, H / 8, W / 8]."""
    return vae.quant_conv(vae.encoder(picture)).chunk(2, dim=1)[0] * SCALE


def decode(vae: torch.nn.Module, latent: torch.Tensor) -> torch.Tensor:
    """Scaled latents [N, 4, h, w] to pictures [N, 3, 8 h, 8 w] in about [-1, 1]."""
    return vae.decoder(vae.post_quant_conv(latent / SCALE))


@torch.no_grad()
def latents_of(vae: torch.nn.Module, crops: np.ndarray, blank_lower_half: bool) -> torch.Tensor:
    """uint8 crops [N, 256, 256, 3] to scaled latents [N, 4, 32, 32] float32."""
    pieces = []
    for start in range(0, len(crops), ENCODE_BATCH):
        batch = crops[start : start + ENCODE_BATCH]
        with half_precision():
            picture = to_net(masked(batch) if blank_lower_half else batch)
            pieces.append(encode(vae, picture).float().cpu())
    return torch.cat(pieces)
