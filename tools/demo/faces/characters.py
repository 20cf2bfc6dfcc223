"""What belongs to each demo avatar beside its looks, which render/head/ada.cpp and theo.cpp hold, face box included."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Avatar:
    """What one character's clip and bundle are made with."""

    motion_seed: int = 0  # of the clip, so that two characters side by side do not move alike
    with_latents: bool = False  # in the bundle; two sets of them would be more than the 16 MB allowed
    voice: str = "en-us"  # espeak-ng's, in which it says a text


AVATARS = {
    "ada": Avatar(motion_seed=6, with_latents=True, voice="en-us+f3"),
    "theo": Avatar(motion_seed=9, voice="en-us+m3"),
}
# What all say in the README's picture.
SENTENCE = "Hello! I am a talking head, and my mouth follows these words."
