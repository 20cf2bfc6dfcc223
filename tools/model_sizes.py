"""Sizes of MuseTalk's nets, and the configuration files that they make. Needs nothing but Python.

The tools under tools/ and the comparison under bench/ share this file.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Everything that may differ between two models of MuseTalk's architecture."""

    unet_channels: tuple = (320, 640, 1280, 1280)
    unet_layers: int = 2
    unet_heads: int | tuple = 8  # a number, or one for each of the four blocks
    unet_groups: int = 32
    vae_channels: tuple = (128, 256, 512, 512)
    vae_layers: int = 2
    vae_groups: int = 32
    width: int = 384  # whisper's d_model and the UNet's context width
    whisper_layers: int = 4
    whisper_heads: int = 6
    whisper_ffn: int = 1536


SIZES = {
    "tiny": Sizes(
        unet_channels=(8, 8, 16, 16),
        unet_layers=1,
        unet_heads=2,
        unet_groups=4,
        vae_channels=(8, 8, 8, 16),
        vae_layers=1,
        vae_groups=4,
        width=16,
        whisper_layers=2,
        whisper_heads=2,
        whisper_ffn=32,
    ),
    "small": Sizes(
        unet_channels=(32, 64, 96, 128),
        unet_layers=1,
        unet_heads=4,
        unet_groups=16,
        vae_channels=(32, 32, 64, 64),
        vae_layers=1,
        vae_groups=16,
        width=96,
        whisper_layers=4,
        whisper_heads=4,
        whisper_ffn=384,
    ),
    "full": Sizes(),
}


def unet_config(sizes):
    """The content of musetalk.json: the fields of the published file, in its spelling."""
    return {
        "_class_name": "UNet2DConditionModel",
        "act_fn": "silu",
        "attention_head_dim": sizes.unet_heads,  # diffusers' old name: it means the number of heads
        "block_out_channels": list(sizes.unet_channels),
        "center_input_sample": False,
        "cross_attention_dim": sizes.width,
        "down_block_types": ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"],
        "downsample_padding": 1,
        "flip_sin_to_cos": True,
        "freq_shift": 0,
        "in_channels": 8,
        "layers_per_block": sizes.unet_layers,
        "mid_block_scale_factor": 1,
        "norm_eps": 1e-05,
        "norm_num_groups": sizes.unet_groups,
        "out_channels": 4,
        "sample_size": 64,
        "up_block_types": ["UpBlock2D"] + ["CrossAttnUpBlock2D"] * 3,
    }


def vae_config(sizes):
    """The content of sd-vae/config.json. No scaling_factor: the default, 0.18215, applies."""
    return {
        "_class_name": "AutoencoderKL",
        "act_fn": "silu",
        "block_out_channels": list(sizes.vae_channels),
        "down_block_types": ["DownEncoderBlock2D"] * 4,
        "in_channels": 3,
        "latent_channels": 4,
        "layers_per_block": sizes.vae_layers,
        "norm_num_groups": sizes.vae_groups,
        "out_channels": 3,
        "sample_size": 256,
        "up_block_types": ["UpDecoderBlock2D"] * 4,
    }


def whisper_config(sizes):
    """The content of whisper/config.json. The decoder is never used and kept at its smallest."""
    return {
        "activation_function": "gelu",
        "architectures": ["WhisperForConditionalGeneration"],
        "d_model": sizes.width,
        "decoder_attention_heads": sizes.whisper_heads,
        "decoder_ffn_dim": sizes.whisper_ffn,
        "decoder_layers": 1,
        "dropout": 0.0,
        "encoder_attention_heads": sizes.whisper_heads,
        "encoder_ffn_dim": sizes.whisper_ffn,
        "encoder_layers": sizes.whisper_layers,
        "max_source_positions": 1500,
        "model_type": "whisper",
        "num_hidden_layers": sizes.whisper_layers,
        "num_mel_bins": 80,
        "scale_embedding": False,
    }


def preprocessor_config():
    """The content of whisper/preprocessor_config.json."""
    return {
        "chunk_length": 30,
        "feature_extractor_type": "WhisperFeatureExtractor",
        "feature_size": 80,
        "hop_length": 160,
        "n_fft": 400,
        "padding_side": "right",
        "padding_value": 0.0,
        "return_attention_mask": False,
        "sampling_rate": 16000,
    }
