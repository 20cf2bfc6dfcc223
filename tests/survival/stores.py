"""The pool's store as a test looks at it: SQLite, or a PostgreSQL server of the test's own."""

import contextlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time


class Sqlite:
    def __init__(self, folder):
        self.file = pathlib.Path(folder) / "pool.db"
        self.url = f"sqlite:{self.file}"

    def close(self):
        pass

    def rows(self, statement):
        """Dictionaries; none while the store is not made yet."""
        if not self.file.exists():
            return []
        with contextlib.closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=30)) as database:
            database.row_factory = sqlite3.Row
            try:
                return [dict(row) for row in database.execute(statement)]
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return []
                raise

    def now_us(self):
        (clock,) = self.rows("SELECT wall_minus_boot FROM clock")
        return clock["wall_minus_boot"] + time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000

    @contextlib.contextmanager
    def locked(self):
        """Nobody else writes meanwhile."""
        database = sqlite3.connect(self.file, isolation_level=None, timeout=30)
        database.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            database.execute("ROLLBACK")
            database.close()


    def hold_calls(self):
        """From now on no gateway can record that it calls a provider, and so none calls one. The store has to exist."""
        self._execute(
            "CREATE TRIGGER held BEFORE UPDATE OF intent_called ON gpus WHEN NEW.intent_called "
            "BEGIN SELECT RAISE(ABORT, 'held by a test'); END"
        )

    def release_calls(self):
        self._execute("DROP TRIGGER held")

    def _execute(self, statement):
        with contextlib.closing(sqlite3.connect(self.file, isolation_level=None, timeout=30)) as database:
            database.execute(statement)


class Postgres:
    """A fresh cluster on a Unix socket, as another user than root."""

    USER = "postgres"  # Debian's package makes it

    @staticmethod
    def programs():
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        return found[-1].parent if found and shutil.which("psql") else None

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="navtalk-postgres-")
        if os.getuid() == 0:
            user = pwd.getpwnam(self.USER)
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        options = ["--auth=trust", "--no-sync", "--no-instructions", "--encoding=UTF8", "--locale=C"]
        subprocess.run(
            self.command("initdb", "-D", f"{self.folder}/data", "-U", "postgres", *options),
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/",
        )
        self.process = None
        self.start()
        self.url = f"postgresql:///postgres?user=postgres&host={self.folder}"

    def command(self, program, *arguments):
        other = ["--reuid", self.USER, "--regid", self.USER, "--init-groups"] if os.getuid() == 0 else []
        return ["setpriv", "--pdeathsig", "SIGQUIT", *other, "--", str(self.programs() / program), *arguments]

    def start(self):
        settings = ["listen_addresses=", "fsync=off", "max_connections=60", "shared_buffers=32MB"]
        words = [word for setting in settings for word in ("-c", setting)]
        with open(f"{self.folder}.log", "ab") as log:
            self.process = subprocess.Popen(
                self.command("postgres", "-D", f"{self.folder}/data", "-k", self.folder, *words),
                stdout=log,
                stderr=log,
                cwd="/",
            )
        end = time.monotonic() + 60
        while self.psql("SELECT 1").returncode != 0:
            if time.monotonic() > end:
                raise AssertionError("PostgreSQL does not start")
            time.sleep(0.05)

    def stop(self, sign=signal.SIGINT):
        self.process.send_signal(sign)
        self.process.wait(60)

    def close(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder)
        os.remove(f"{self.folder}.log")

    def psql(self, statement):
        return subprocess.run(
            ["psql", "-XAtq", "-h", self.folder, "-U", "postgres", "-c", statement, "postgres"],
            capture_output=True,
            text=True,
            timeout=60,
        )

    def rows(self, statement):
        done = self.psql(f"SELECT row_to_json(r) FROM ({statement}) AS r")
        if "does not exist" in done.stderr:
            return []
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def now_us(self):
        return int(self.psql("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").stdout)
