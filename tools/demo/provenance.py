"""Which nets the data and the UNet of a work folder were made with. Mixtures are refused.

    contexts.npz, faces/   made_of: the step to which the audio encoder was trained
    latents/               made_of: the VAE's step; and no older than their faces
    unet.pt                made_of: both, {"audio": step, "vae": step}

A step stands for the net: who trains one anew to the same step deletes what was made with the old one.
"""

from pathlib import Path

from files import made_of, required_state
from program import Failure


def present_nets(work: Path) -> dict[str, int]:
    """The steps of what the UNet builds on, {"audio", "vae"}."""
    return {name: required_state(work / f"{name}.pt", name)["step"] for name in ("audio", "vae")}


def check_contexts(work: Path) -> None:
    """Failure unless there are contexts of the encoder that is there."""
    _check(work / "contexts.npz", "audio", "contexts", required_state(work / "audio.pt", "audio")["step"])


def check_data(work: Path) -> None:
    """Failure unless contexts, faces and latents belong to the nets that are there, and to each other."""
    nets = present_nets(work)
    check_contexts(work)
    for faces in face_shards(work):
        latents = work / "latents" / faces.name
        _check(faces, "audio", "faces", nets["audio"])
        _check(latents, "vae", "latents", nets["vae"])
        if is_older(latents, faces):
            raise Failure(f"{latents} is older than its faces: run the stage latents again")


def check_unet(work: Path) -> dict:
    """The checkpoint of the UNet; Failure where there is none, or where it knows other nets."""
    state, nets = required_state(work / "unet.pt", "unet"), present_nets(work)
    if not knows(state, nets):
        raise Failure(
            f"{work / 'unet.pt'} was trained with {described(state['made_of'])}, but there are "
            f"{described(nets)}: run the stages contexts, faces, latents and unet again"
        )
    return state


def knows(state: dict, nets: dict[str, int]) -> bool:
    """Whether a training's checkpoint was made with these nets; one that does not say is taken to be."""
    return state.get("made_of", nets) == nets


def described(nets: dict[str, int]) -> str:
    return " and ".join(f"{name}.pt of step {step}" for name, step in nets.items())


def face_shards(work: Path) -> list[Path]:
    """In the order in which all stages join them; Failure where there are none."""
    paths = sorted((work / "faces").glob("*-[0-9]*.npz"))
    if not paths:
        raise Failure(f"{work / 'faces'} holds no shards: run the stage faces first")
    return paths


def is_older(path: Path, source: Path) -> bool:
    return path.stat().st_mtime < source.stat().st_mtime


def _check(path: Path, net: str, stage: str, step: int) -> None:
    found = made_of(path)
    if found is None:
        raise Failure(f"{path} is missing: run the stage {stage} first")
    if found != step:
        raise Failure(
            f"{path} was made with {net}.pt of step {found}, which is at {step} now: run the stage "
            f"{stage} again, for as many shards as there are, or delete the file"
        )
