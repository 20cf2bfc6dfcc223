#!/usr/bin/env python3
"""usage: speak.py WAV OUTPUT.mp4 [--url ws://127.0.0.1:2160] [--avatar ada] [--width 480] [--key-file FILE]

Lets an avatar of a running `navtalk serve` speak a WAV file (mono, 16 bits), at the pace of a microphone, and saves what
comes back. Needs python3-websocket, and ffmpeg for the MP4 file. Prints how far the pictures are behind the sound.
Exits with 1 when the gateway told an error, or the session ended early. A gateway with API keys needs one: the first line of
FILE, or the variable NAVTALK_API_KEY."""

import argparse
import contextlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
import wave

import websocket

CHUNK_S = 0.02
SOUND, VIDEO = 1, 3
SAMPLE_BYTES = 2


class Received:
    """Pictures and sound of one session, and when each came."""

    def __init__(self):
        self.pictures = []  # (presentation time, arrival, H.264 access unit)
        self.sound, self.sound_frames = bytearray(), []  # all of it; and where each frame of it begins: (presentation time, byte)
        self.failed = False

    def take(self, frame):
        if isinstance(frame, str):
            event = json.loads(frame)
            if event["type"] == "error":
                self.fail(f"{event['code']}: {event['message']}")
            return
        kind, _, _, _, time_us = struct.unpack_from("<BBHIq", frame)
        if kind == VIDEO:
            self.pictures.append((time_us, time.monotonic(), frame[16:]))
        elif kind == SOUND:
            self.sound_frames.append((time_us, len(self.sound)))
            self.sound += frame[16:]

    def fail(self, why):
        print(f"error: {why}", file=sys.stderr)
        self.failed = True

    def video_ivf(self):
        """The pictures in a container that has the time of each, in microseconds: they come 15 to 25 times a second."""
        header = struct.pack("<4sHH4sHHIIII", b"DKIF", 0, 32, b"H264", 0, 0, 1_000_000, 1, len(self.pictures), 0)
        return header + b"".join(struct.pack("<IQ", len(unit), max(0, time_us)) + unit for time_us, _, unit in self.pictures)

    def sound_in_time(self, rate):
        """The sound from time 0 on, with silence where none was played."""
        timed = bytearray()
        ends = [begin for _, begin in self.sound_frames[1:]] + [len(self.sound)]
        for (time_us, begin), end in zip(self.sound_frames, ends):
            missing = round(time_us * rate / 1e6) - len(timed) // SAMPLE_BYTES
            timed += bytes(SAMPLE_BYTES * max(0, missing)) + self.sound[begin:end]
        return timed

    def latencies_ms(self, sent_at, rate):
        """For each message sent: from its sending to the arrival of the last picture that belongs to its first sample."""
        found, picture = [], 0
        for number, sent in enumerate(sent_at):
            time_us = self.sound_frames[0][0] + number * CHUNK_S * 1e6
            while picture + 1 < len(self.pictures) and self.pictures[picture + 1][0] <= time_us:
                picture += 1
            found.append((self.pictures[picture][1] - sent) * 1000)
        return sorted(found)


def api_key(file):
    """Of the variable, otherwise of the file; "" without both."""
    key = os.environ.get("NAVTALK_API_KEY", "")
    if key or not file:
        return key
    try:
        with open(file) as opened:
            return opened.readline().strip()
    except OSError as error:
        raise SystemExit(f"{file}: cannot read the API key: {error.strerror}")


def receive(socket):
    """The next frame. WebSocketException, OSError at the end."""
    frame = socket.recv()
    if not frame:
        raise websocket.WebSocketConnectionClosedException("the gateway closed the connection")
    return frame


def connect(url, key):
    try:
        return websocket.create_connection(url + "/v1/realtime", header=[f"Authorization: Bearer {key}"] if key else [])
    except websocket.WebSocketBadStatusException as error:
        if error.status_code == 401:
            need = "refuses this API key" if key else "needs an API key"
            raise SystemExit(f"{url} {need}: give a valid one with --key-file FILE or NAVTALK_API_KEY")
        raise SystemExit(f"{url} refuses the session: HTTP status {error.status_code}")
    except (websocket.WebSocketException, OSError, ValueError) as error:
        raise SystemExit(f"cannot connect to {url}: {error}")


def start(url, key, avatar, width, rate):
    socket = connect(url, key)
    socket.send(json.dumps({"type": "session.start", "avatar": avatar, "video": {"width": width}, "audio": {"rate": rate}}))
    while True:
        try:
            frame = receive(socket)
        except (websocket.WebSocketException, OSError) as error:
            raise SystemExit(f"the connection ended before the session began: {error}")
        if isinstance(frame, bytes):
            continue
        event = json.loads(frame)
        print(frame)
        if event["type"] == "error":
            raise SystemExit(f"error: {event['code']}: {event['message']}")
        if event["type"] == "session.ready":
            return socket


def send_paced(socket, samples, rate):
    """When each message was sent; fewer than all where the session ended meanwhile."""
    sent_at, begin, step = [], time.monotonic(), int(rate * CHUNK_S) * 2
    for number, offset in enumerate(range(0, len(samples), step)):
        time.sleep(max(0, begin + (number + 1) * CHUNK_S - time.monotonic()))
        try:
            socket.send_binary(samples[offset : offset + step])
        except (websocket.WebSocketException, OSError):
            return sent_at
        sent_at.append(time.monotonic())
    send_end(socket, "input.end")
    return sent_at


def send_end(socket, what):
    with contextlib.suppress(websocket.WebSocketException, OSError):  # what receives has told of it
        socket.send(json.dumps({"type": what}))


def save(received, rate, output):
    with tempfile.TemporaryDirectory() as folder:
        video, sound = os.path.join(folder, "video.ivf"), os.path.join(folder, "sound.wav")
        with open(video, "wb") as file:
            file.write(received.video_ivf())
        with wave.open(sound, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(SAMPLE_BYTES)
            file.setframerate(rate)
            file.writeframes(received.sound_in_time(rate))
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", video, "-i", sound, "-c:v", "copy", output], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wav")
    parser.add_argument("output")
    parser.add_argument("--url", default="ws://127.0.0.1:2160")
    parser.add_argument("--avatar", default="ada")
    parser.add_argument("--width", type=int)
    parser.add_argument("--key-file", help="file with the API key in its first line (default: the variable NAVTALK_API_KEY)")
    options = parser.parse_args()
    with wave.open(options.wav) as file:
        if file.getnchannels() != 1 or file.getsampwidth() != 2:
            raise SystemExit(f"{options.wav}: needs one channel of 16 bits")
        rate, samples = file.getframerate(), file.readframes(file.getnframes())

    socket = start(options.url, api_key(options.key_file), options.avatar, options.width, rate)
    received, over, ended = Received(), threading.Event(), threading.Event()  # over: this side ends it

    def receive_all():
        try:
            while not over.is_set():
                received.take(receive(socket))
        except (websocket.WebSocketException, OSError) as error:
            if not over.is_set() and not received.failed:
                received.fail(f"the session ended early: {error}")
        ended.set()

    receiver = threading.Thread(target=receive_all)
    receiver.start()
    time.sleep(0.5)
    sent_at = send_paced(socket, samples, rate)
    deadline = time.monotonic() + 10
    while len(received.sound) < len(samples) and time.monotonic() < deadline and not ended.is_set():
        time.sleep(0.05)
    ended.wait(0.5)
    over.set()
    send_end(socket, "session.end")
    receiver.join()

    print(f"{len(received.pictures)} pictures, {len(received.sound)} of {len(samples)} bytes of sound came back")
    print(f"same sound: {bytes(received.sound) == samples}")
    if received.pictures and received.sound and sent_at:
        late = received.latencies_ms(sent_at, rate)
        print(f"latency: median {late[len(late) // 2]:.0f} ms, 95 % below {late[len(late) * 95 // 100]:.0f} ms")
    if received.pictures:
        save(received, rate, options.output)
        print(f"saved: {options.output}")
    return 1 if received.failed or not received.pictures else 0


if __name__ == "__main__":
    sys.exit(main())
