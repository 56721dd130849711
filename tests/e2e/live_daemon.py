"""A real daemon with real jobs, for tests: starts and kills `muster serve`, and calls the command as a person would."""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

MUSTER = os.environ["MUSTER"]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TRAINER = str(pathlib.Path(MUSTER).parent / "test_programs" / "trainer")
OVER = ("finished", "failed", "refused", "cancelled")

# A job that notes its launches in a file, and cries out where two of them are there at once. It takes so many seconds, or as
# long as its test wants it to.
ALONE = """
import fcntl, os, sys, time
name, seconds = sys.argv[1], sys.argv[2]
lock = open(name + ".lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    open(name + ".twice", "w").close()
    sys.exit(9)
with open(name + ".launches", "a") as file:
    print(os.environ["MUSTER_LAUNCH"], os.environ["CUDA_VISIBLE_DEVICES"], file=file)
if seconds != "None":
    time.sleep(float(seconds))
while seconds == "None" and not os.path.exists(name + ".end"):
    time.sleep(0.02)
with open(name + ".done", "a") as file:
    print(os.environ["MUSTER_LAUNCH"], file=file)
"""


def wait_until(condition, seconds=30, what="it"):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds} s")


class UnixConnection(http.client.HTTPConnection):
    """HTTP over the daemon's socket, for tests that call so often that a command for each would take too long."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect(str(self.path))
        except OSError:
            self.sock.close()
            raise


class Daemon:
    def __init__(self, *options, gpus=4, environment=None):
        """`gpus`: how many are pretended; None: those of the machine. `environment`: of the daemon, in addition."""
        self.folder = tempfile.TemporaryDirectory(prefix="muster-live-")
        self.base = pathlib.Path(self.folder.name)
        self.state = self.base / "state"
        self.work = self.base / "work"
        self.work.mkdir()
        self.options = (["--fake-gpus", str(gpus)] if gpus else []) + list(options)
        self.environment = {**os.environ, **(environment or {})}
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.end()
        wait_until(self.left_nothing, what="the end of all processes")
        self.folder.cleanup()

    def left_nothing(self):
        """Ends what is left of its launches. Keepers write into the folder until they are gone."""
        left = self.keepers() + self.marked()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):  # it ended by itself meanwhile
                os.kill(pid, signal.SIGKILL)
        return not left

    def start(self, wait=True):
        with open(self.base / "daemon.log", "ab") as log:
            self.process = subprocess.Popen([MUSTER, "serve", "--state", self.state, *self.options],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                            env=self.environment)
        if wait:
            wait_until(lambda: self.answers() or self.process.poll() is not None, what="an answer of the daemon")
            if self.process.poll() is not None:
                raise AssertionError((self.base / "daemon.log").read_text())

    def answers(self):
        return self.run("status", "--json", check=False).returncode == 0

    def log(self):
        return (self.base / "daemon.log").read_text()

    def call(self, method, target, body=None):
        """The status and the answer of one request; OSError where nobody answers."""
        connection = UnixConnection(self.state / "api.sock")
        try:
            with contextlib.suppress(BrokenPipeError):  # a refusal may come before all is said
                connection.request(method, target, None if body is None else json.dumps(body))
            response = connection.getresponse()
            text = response.read().decode()
            return response.status, json.loads(text) if response.headers["Content-Type"].startswith("application/json") else text
        except http.client.HTTPException as problem:
            raise OSError(f"cut off: {problem!r}") from problem
        finally:
            connection.close()

    def listens(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon has ended by itself:\n{self.log()[-4000:]}")
        try:
            return self.call("GET", "/v1/status")[0] == 200
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self, how=signal.SIGTERM):
        if self.process is None or self.process.poll() is not None:
            return self.process and self.process.returncode
        self.process.send_signal(how)
        return self.process.wait(timeout=60)

    def run(self, *words, check=True, **more):
        name = 2 if words[0] == "token" else 1  # words of the command's name
        done = subprocess.run([MUSTER, *words[:name], "--state", str(self.state), *words[name:]], capture_output=True, text=True,
                              cwd=self.work, timeout=120, **more)
        if check and done.returncode != 0:
            raise AssertionError(f"muster {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}\n"
                                 + (self.base / "daemon.log").read_text())
        return done

    def submit(self, *words):
        return int(self.run("submit", *words).stdout)

    def submit_alone(self, name, seconds, *options):
        """`seconds`: how long it takes; None: until let_end()."""
        return self.submit("--name", name, *options, "--", sys.executable, "-c", ALONE, name, str(seconds))

    def let_end(self, *names):
        for name in names:
            (self.work / f"{name}.end").touch()

    def submit_trainer(self, name, steps, *options, seconds=0.1, report=()):
        """A training job without training: so many steps of so many seconds, with metrics that it reports."""
        metrics = [word for metric in report for word in ("--report", metric)]
        return self.submit("--name", name, *options, "--", MUSTER, "trainer", f"{name}.step", str(steps), str(seconds), *metrics)

    def describe(self, text):
        """Goes on with a description that says this; the file, to be changed before a reload."""
        file = self.base / "muster.toml"
        file.write_text(text)
        self.end()
        self.options += ["--config", str(file)]
        self.start()
        return file

    def told(self, *words):
        """What a command answers in JSON."""
        return json.loads(self.run(words[0], "--json", *map(str, words[1:])).stdout)

    def jobs(self):
        return self.told("jobs")

    def job(self, number):
        return self.told("status", number)

    def left_of(self, running, seconds, question):
        """The answer to a question, and the least and the most that was left of the job's seconds when it was given."""
        begun = time.time()
        answer = question()
        started = self.job(running)["runs"][-1]["started"]
        return answer, seconds - (time.time() - started) - 0.1, seconds - (begun - started) + 0.1

    def gpu_jobs(self):
        """The jobs on each GPU of the first node."""
        return self.told("nodes")[0]["jobs"]

    def until(self, number, *states, seconds=30):
        return wait_until(lambda: (lambda job: job if job["state"] in states else None)(self.job(number)), seconds,
                          f"job {number} in {states}")

    def until_launched(self, number, seconds=30):
        return wait_until(lambda: (lambda job: job if job["launch_state"] == "running" else None)(self.job(number)),
                          seconds, f"a launch of job {number}")

    def marked(self):
        """Processes that some launch of this daemon has started and that are still there."""
        found = []
        mark = f"MUSTER_RUN_FOLDER={self.state}".encode()
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if mark in (entry / "environ").read_bytes() and (entry / "stat").read_text().rsplit(")")[-1].split()[0] != "Z":
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def keepers(self):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if len(words) > 1 and words[0].endswith(b"muster-keeper") and words[1].startswith(str(self.state).encode()):
                found.append(int(entry.name))
        return found
