"""State folders of gateways, and the worker processes of one, so that tests side by side see their own alone."""

import os
import pathlib
import shutil
import tempfile


def new_folder(prefix):
    """In memory where that has room: on a busy disk each commit of the store may take seconds."""
    memory = "/dev/shm"
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 30
    return tempfile.mkdtemp(prefix=prefix, dir=memory if roomy else None)


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
