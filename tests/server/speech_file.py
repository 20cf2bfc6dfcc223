"""A file of speech, as long as a test needs it."""

import wave


def record(path, seconds):
    """A square wave whose pitch differs from second to second."""
    rate = 16000
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", ""))
        out.writeframes(b"".join((6000 if (i * (150 + 70 * (i // rate % 5)) // rate) % 2 else -6000).to_bytes(2, "little", signed=True)
                                 for i in range(round(seconds * rate))))
