"""The stages of tools/demo/make, one function each: options in, files out.

Each imports its module when it is run, so that a stage waits for the packages of no other. `evaluate`
gives the figures that were missed, the others nothing.
"""

from argparse import Namespace


def speech(given: Namespace) -> None:
    from speech import speech_data

    speech_data.make(given.work, given.speech_shards)


def audio(given: Namespace) -> None:
    from training import train_audio

    train_audio.train(given.work, given.audio_steps)


def contexts(given: Namespace) -> None:
    from training import contexts as context_store

    context_store.make(given.work)


def faces(given: Namespace) -> None:
    from faces import face_data
    from training import contexts as context_store

    face_data.make(given.work, given.face_shards, context_store.load(given.work), given.threads)


def vae(given: Namespace) -> None:
    from training import train_vae

    train_vae.train(given.work, given.vae_steps, given.warm_vae)


def latents(given: Namespace) -> None:
    from training import latents as latent_store

    latent_store.make(given.work)


def unet(given: Namespace) -> None:
    from training import train_unet

    train_unet.train(given.work, given.unet_steps)


def calm(given: Namespace) -> None:
    from training import calm_audio

    calm_audio.calm(given.work)


def live(given: Namespace) -> None:
    from training import exported, live_audio

    if given.models is not None:
        exported.start(given.work, given.models)
    live_audio.train(given.work, given.live_steps)


def evaluate(given: Namespace) -> list[str]:
    from evaluation import evaluate as evaluation

    return evaluation.evaluate(given.work, given.clips, given.speech)


def export(given: Namespace) -> None:
    import export as exporter

    exporter.export(given.work, given.output / "models")


def clips(given: Namespace) -> None:
    import avatars as bundles

    bundles.make_clips(given.work, given.output, given.new_clips, given.threads)


def avatars(given: Namespace) -> None:
    import avatars as bundles

    bundles.make_avatars(given.work, given.output, given.navtalk, given.new_clips)


def picture(given: Namespace) -> None:
    import avatars as bundles

    bundles.make_picture(given.work, given.output, given.navtalk, given.pictures)
