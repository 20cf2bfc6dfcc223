"""The worker processes of one state folder, so that tests side by side see their own alone."""

import pathlib


def worker_processes(folder):
    """Ids of workers whose state folder that is."""
    mine = f"STATE_DIRECTORY={folder}".encode()
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if b"--worker" in words and mine in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found
