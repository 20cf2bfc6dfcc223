"""Switches the UNet's self-attention off and on in training.

Over 1024 tokens it costs more than all the rest of a training step, and copying a pose with another
mouth hardly needs it. With its output layers at zero it adds nothing, so skipping it changes nothing:
training begins without, and ends with it.
"""

import torch


class _Skipped:
    """diffusers' attention processor that answers zero at once."""

    def __call__(self, attention, hidden_states, *_arguments, **_options) -> torch.Tensor:
        return torch.zeros_like(hidden_states)


def _self_attentions(unet: torch.nn.Module) -> list[torch.nn.Module]:
    return [module for name, module in unet.named_modules() if name.endswith(".attn1")]


def silence(unet: torch.nn.Module) -> None:
    """Zero output layers: the self-attention adds nothing until it is trained."""
    for attention in _self_attentions(unet):
        torch.nn.init.zeros_(attention.to_out[0].weight)
        torch.nn.init.zeros_(attention.to_out[0].bias)


def skip(unet: torch.nn.Module) -> None:
    """Leaves the (silenced) self-attention out of the computation."""
    for attention in _self_attentions(unet):
        attention.set_processor(_Skipped())


def use(unet: torch.nn.Module) -> None:
    """Computes it again, as transformers at inference do."""
    from diffusers.models.attention_processor import AttnProcessor2_0

    for attention in _self_attentions(unet):
        attention.set_processor(AttnProcessor2_0())
