"""A `muster serve` in the background of a documented page, for the commands that talk to one."""

import json
import os
import pathlib
import re
import subprocess
import time

# Commands that need a daemon.
LIVE = re.compile(r"muster (submit|jobs|status|top|logs|wait|cancel|hold|release|nodes|drain|token|drive|replay|what-if(?= --)|explain \d+$)\b")


class PageDaemon:
    """At most one at a time, with its state in the page's folder; `environment` is that of the page."""

    def __init__(self, folder, environment):
        self.folder, self.environment = folder, environment
        self.process, self.followers = None, []

    def call(self, command, **options):
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, text=True, check=False,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=30, **options)

    def serve(self, command):
        """Starts it, in place of the one before; says what is wrong, or nothing once it answers."""
        self.stop()
        state = re.search(r"--state (\S+)", command)
        if state:
            self.environment["MUSTER_STATE"] = state[1]
        log = self.folder / "serve.log"
        with log.open("w") as output:
            self.process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder, env=self.environment,
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        for _ in range(200):
            if self.process.poll() is not None:
                return f"status {self.process.returncode}: {log.read_text()[-600:]}"
            if self.call("muster jobs --json").returncode == 0:
                return ""
            time.sleep(0.05)
        return "it does not answer"

    def follow(self, command):
        """A command that stays, `COMMAND &` in the page."""
        self.followers.append(subprocess.Popen(["bash", "-c", "exec " + command.rstrip(" &")], cwd=self.folder,
                                               env=self.environment, stdin=subprocess.DEVNULL,
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def with_jobs(self, command):
        """A daemon with jobs to speak of, 42 and 43 under way, for a command that takes one for granted."""
        if self.process is not None:
            return
        problem = self.serve(f"muster serve --state {self.folder}/live-state --fake-gpus 8 --record recording.jsonl")
        assert not problem, problem
        for job in range(1, 44):
            program = "-- true" if job < 42 else "--gpus 2 --per-gpu -- sleep 8"
            assert self.call(f"muster submit {program}").returncode == 0
        if command.startswith("muster release"):
            self.call("muster hold 42 43")
        if command.startswith("muster replay"):
            self.stop()

    def stop(self):
        """Leaves nothing behind: what runs goes on without a daemon, so it is cancelled first."""
        for follower in self.followers:
            follower.kill()
            follower.wait()
        self.followers.clear()
        if self.process is None:
            return
        if self.process.poll() is None:
            listed = self.call("muster jobs --json")
            for job in json.loads(listed.stdout) if listed.returncode == 0 else []:
                self.call(f"muster cancel {job['id']}")
            self.call("muster wait --timeout 20")
            self.process.terminate()
        self.process.wait(timeout=60)
        self.process = None
        # A job that is taken back may still save its work.
        for _ in range(300):
            if not self.at_work():
                return
            time.sleep(0.1)
        raise AssertionError(f"processes of jobs are left: {self.at_work()}")

    def at_work(self):
        """Processes that work in the page's folder or name it."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                here = os.path.realpath(process / "cwd").startswith(str(self.folder))
            except OSError:  # it has ended
                continue
            if words and (here or str(self.folder) in words) and int(process.name) != os.getpid():
                found.append(words.strip())
        return found
