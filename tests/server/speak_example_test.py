"""usage: speak_example_test.py EXAMPLE   what examples/speak.py saves has each picture and each sound at its presentation time"""

import importlib.util
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "survival"))

import needs_websocket  # noqa: E402, F401   the example's

RATE = 16000
SOUND, VIDEO, KEY = 1, 3, 1
PICTURES = 36


def load(path):
    spec = importlib.util.spec_from_file_location("speak", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def access_units(count):
    """H.264 of so many pictures, cut where each begins, at its delimiter."""
    stream = subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=25", "-frames:v", str(count), "-c:v", "libx264",
         "-profile:v", "baseline", "-pix_fmt", "yuv420p", "-x264-params", "aud=1:bframes=0", "-f", "h264", "-"],
        check=True, capture_output=True).stdout
    delimiter = b"\0\0\0\1\x09"
    units = [delimiter + unit for unit in stream.split(delimiter)[1:]]
    assert len(units) == count, f"{len(units)} of {count} pictures"
    return units


def frame(kind, flags, sequence, time_us, content):
    return struct.pack("<BBHIq", kind, flags, 0, sequence, time_us) + content


def times_us():
    """A worker that makes 25 pictures a second, and then 15."""
    return [40_000 * n for n in range(12)] + [480_000 + round(n * 1e6 / 15) for n in range(PICTURES - 12)]


def probe(path, *what):
    command = ["ffprobe", "-v", "error", "-of", "json", *what, path]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def loud_parts(path):
    """Where the saved sound is loud, as (from, to) in seconds."""
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ac", "1", "-ar", str(RATE), "-"],
                         check=True, capture_output=True).stdout
    samples = memoryview(raw).cast("h")
    step = RATE // 100
    loud = [max(map(abs, samples[at : at + step])) > 4000 for at in range(0, len(samples) - step, step)]
    edges = [n for n in range(1, len(loud)) if loud[n] != loud[n - 1]] + ([len(loud)] if loud[-1] else [])
    return [(begin / 100, end / 100) for begin, end in zip(edges[::2], edges[1::2])]


def main():
    if not shutil.which("ffmpeg"):
        print("skipped: ffmpeg is not installed")
        return
    speak = load(sys.argv[1])
    received = speak.Received()
    for number, (time_us, unit) in enumerate(zip(times_us(), access_units(PICTURES))):
        received.take(frame(VIDEO, 0 if number else KEY, number, time_us, unit))
    tone = struct.pack("<320h", *[12000 if n // 16 % 2 else -12000 for n in range(320)])
    begins_us = [500_000 + 20_000 * n for n in range(25)] + [1_400_000 + 20_000 * n for n in range(25)]
    for number, time_us in enumerate(begins_us):
        received.take(frame(SOUND, 0, number, time_us, tone))
    with tempfile.TemporaryDirectory() as folder:
        output = str(pathlib.Path(folder) / "saved.mp4")
        speak.save(received, RATE, output)
        packets = probe(output, "-select_streams", "v", "-show_entries", "packet=pts_time")["packets"]
        shown = [float(packet["pts_time"]) for packet in packets]
        worst = max(abs(one - time_us / 1e6) for one, time_us in zip(shown, times_us()))
        assert len(shown) == PICTURES and worst < 0.001, f"{len(shown)} pictures, one {worst:.3f} s off: {shown}"
        parts = loud_parts(output)
        wanted = [(0.5, 1.0), (1.4, 1.9)]
        close = len(parts) == 2 and all(abs(a - b) < 0.03 for part, want in zip(parts, wanted) for a, b in zip(part, want))
        assert close, f"the sound is at {parts}, not at {wanted}"


main()
