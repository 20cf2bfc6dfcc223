#!/usr/bin/env python3
"""usage: speak.py WAV OUTPUT.mp4 [--url ws://127.0.0.1:2160] [--avatar ada] [--width 480]

Lets an avatar of a running `navtalk serve` speak a WAV file (mono, 16 bits), at the pace of a microphone, and saves what
comes back. Needs python3-websocket, and ffmpeg for the MP4 file. Prints how far the pictures are behind the sound."""

import argparse
import json
import os
import struct
import subprocess
import tempfile
import threading
import time
import wave

import websocket

CHUNK_S = 0.02
SOUND, VIDEO = 1, 3


class Received:
    """Pictures and sound of one session, and when each came."""

    def __init__(self):
        self.video, self.sound, self.pictures, self.events = bytearray(), bytearray(), [], []
        self.first_sound_us = None

    def take(self, frame):
        if isinstance(frame, str):
            self.events.append(json.loads(frame))
            return
        kind, _, _, _, time_us = struct.unpack_from("<BBHIq", frame)
        if kind == VIDEO:
            self.video += frame[16:]
            self.pictures.append((time_us, time.monotonic()))
        elif kind == SOUND:
            if self.first_sound_us is None:
                self.first_sound_us = time_us
            self.sound += frame[16:]

    def latencies_ms(self, sent_at, rate):
        """For each message sent: from its sending to the arrival of the last picture that belongs to its first sample."""
        found, picture = [], 0
        for number, sent in enumerate(sent_at):
            time_us = self.first_sound_us + number * CHUNK_S * 1e6
            while picture + 1 < len(self.pictures) and self.pictures[picture + 1][0] <= time_us:
                picture += 1
            found.append((self.pictures[picture][1] - sent) * 1000)
        return sorted(found)


def start(url, avatar, width, rate):
    socket = websocket.create_connection(url + "/v1/realtime")
    socket.send(json.dumps({"type": "session.start", "avatar": avatar, "video": {"width": width}, "audio": {"rate": rate}}))
    while True:
        frame = socket.recv()
        if isinstance(frame, bytes):
            continue
        event = json.loads(frame)
        print(frame)
        if event["type"] == "error":
            raise SystemExit(event["message"])
        if event["type"] == "session.ready":
            return socket


def send_paced(socket, samples, rate):
    sent_at, begin, step = [], time.monotonic(), int(rate * CHUNK_S) * 2
    for number, offset in enumerate(range(0, len(samples), step)):
        time.sleep(max(0, begin + (number + 1) * CHUNK_S - time.monotonic()))
        sent_at.append(time.monotonic())
        socket.send_binary(samples[offset : offset + step])
    socket.send('{"type":"input.end"}')
    return sent_at


def save(received, rate, output):
    with tempfile.TemporaryDirectory() as folder:
        video, sound = os.path.join(folder, "video.h264"), os.path.join(folder, "sound.wav")
        with open(video, "wb") as file:
            file.write(received.video)
        with wave.open(sound, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(received.sound)
        delay = f"{(received.first_sound_us or 0) / 1e6:.3f}"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-r", "25", "-i", video, "-itsoffset", delay, "-i", sound, "-c:v", "copy", output],
            check=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wav")
    parser.add_argument("output")
    parser.add_argument("--url", default="ws://127.0.0.1:2160")
    parser.add_argument("--avatar", default="ada")
    parser.add_argument("--width", type=int)
    options = parser.parse_args()
    with wave.open(options.wav) as file:
        if file.getnchannels() != 1 or file.getsampwidth() != 2:
            raise SystemExit(f"{options.wav}: needs one channel of 16 bits")
        rate, samples = file.getframerate(), file.readframes(file.getnframes())

    socket = start(options.url, options.avatar, options.width, rate)
    received, over = Received(), threading.Event()

    def receive():
        try:
            while not over.is_set():
                received.take(socket.recv())
        except (websocket.WebSocketException, OSError, json.JSONDecodeError):
            pass

    receiver = threading.Thread(target=receive)
    receiver.start()
    time.sleep(0.5)
    sent_at = send_paced(socket, samples, rate)
    deadline = time.monotonic() + 10
    while len(received.sound) < len(samples) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    over.set()
    socket.send('{"type":"session.end"}')
    receiver.join()
    save(received, rate, options.output)

    late = received.latencies_ms(sent_at, rate)
    print(f"{len(received.pictures)} pictures, {len(received.sound)} of {len(samples)} bytes of sound came back")
    print(f"same sound: {bytes(received.sound) == samples}")
    print(f"latency: median {late[len(late) // 2]:.0f} ms, 95 % below {late[len(late) * 95 // 100]:.0f} ms")
    print(f"saved: {options.output}")


if __name__ == "__main__":
    main()
