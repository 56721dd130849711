"""Daemons that are killed at random, with their keepers, guards and jobs: nothing is lost, doubled or left behind.

MUSTER_KILLS daemons die (200 by default), several of them side by side; MUSTER_SEED repeats a run.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

from live_daemon import MUSTER, Daemon, wait_until

ALONE = str(pathlib.Path(MUSTER).parent / "test_programs" / "alone")
POLICIES = (
    ("--scheduling", "las", "--pacing", "rounds:length=0.5"),
    ("--scheduling", "srtf"),
    ("--scheduling", "tiresias", "--pacing", "ticks:length=0.3"),
    (),
)
PATIENCE = 90  # seconds; a start that failed by a kill is tried again after 10 and 20


class Life:
    """One daemon that dies again and again, and what was promised about its jobs."""

    def __init__(self, seed, kills, policy):
        self.seed, self.kills, self.policy = seed, kills, policy
        self.chance = random.Random(seed)
        self.accepted = {}
        self.problem = None
        self.others_killed = 0
        self.launches = 0

    def run(self):
        # Deaths are the point here: what is tested is not to give way to safe mode.
        with Daemon(*self.policy, "--safe-after", "0", gpus=3) as daemon:
            try:
                self.live(daemon)
                self.check(daemon)
            except BaseException as problem:  # told by whoever started the thread
                self.problem = f"seed {self.seed}, {self.policy}: {problem}\n" + daemon.log()[-4000:]

    def live(self, daemon):
        recording = daemon.base / "recording.jsonl"
        daemon.options += ["--record", str(recording)]
        for kill in range(self.kills):
            for _ in range(self.chance.randrange(3)):
                self.submit(daemon, f"r{kill}-{len(self.accepted)}")
            # At any moment; or while something runs, which a busy machine would otherwise hardly let happen.
            if self.chance.random() < 0.4 and self.accepted:
                end = time.monotonic() + 1
                while time.monotonic() < end and not daemon.marked():
                    time.sleep(0.01)
            time.sleep(self.chance.uniform(0, 0.2))
            self.kill_others(daemon)
            daemon.kill()
            daemon.start(wait=False)
            if self.chance.random() < 0.7:
                wait_until(daemon.listens, what="an answer of the daemon")

    def submit(self, daemon, name):
        words = [ALONE, name, str(self.chance.randrange(0, 300))] + ["flee"] * (self.chance.random() < 0.3)
        job = {"command": words, "name": name, "gpus": self.chance.choice([1, 1, 2, 3]), "grace": 0.5,
               "retries": 1000, "estimate": 1, "working_directory": str(daemon.work)}
        try:
            status, answer = daemon.call("POST", "/v1/jobs", job)
        except OSError:
            return  # nobody was there, or died before it answered: nothing was promised
        assert status == 201, answer
        self.accepted[answer["id"]] = name

    def kill_others(self, daemon):
        for chance, find in ((0.3, daemon.keepers), (0.2, daemon.marked)):
            if self.chance.random() >= chance:
                continue
            found = find()
            if found:
                try:
                    os.kill(self.chance.choice(found), signal.SIGKILL)
                    self.others_killed += 1
                except ProcessLookupError:
                    pass

    def check(self, daemon):
        wait_until(daemon.listens, what="an answer of the daemon")
        status = daemon.call("GET", "/v1/status")[1]
        decides = self.policy[1] if self.policy else "fifo"
        assert status["policy"].startswith(decides) and not status["safe_mode"], f"not {decides}: {status}"
        end = time.monotonic() + PATIENCE
        while True:
            jobs = {job["id"]: job for job in daemon.call("GET", "/v1/jobs")[1]}
            lost = [number for number in self.accepted if number not in jobs]
            assert not lost, f"accepted and lost: {lost}"
            waiting = [jobs[number] for number in self.accepted if jobs[number]["state"] != "finished"]
            if not waiting:
                break
            if time.monotonic() > end:
                story = daemon.call("GET", f"/v1/jobs/{waiting[0]['id']}")[1]
                raise AssertionError(f"{len(waiting)} jobs are not finished after {PATIENCE} s, the first: {story}")
            time.sleep(0.1)
        doubled = [str(file.name) for file in daemon.work.glob("*.twice")]
        assert not doubled, f"ran twice at once: {doubled}"
        for name in self.accepted.values():
            launches = (daemon.work / f"{name}.launches").read_text().split()
            assert len(set(launches)) == len(launches), f"{name}: a launch began twice: {launches}"
            self.launches += len(launches)
            assert (daemon.work / f"{name}.done").exists(), f"{name} finished without its work being done"
        wait_until(lambda: not daemon.marked() and not daemon.keepers(), what="the end of all processes")
        daemon.end()
        recording = daemon.base / "recording.jsonl"
        replayed = subprocess.run([MUSTER, "replay", "--json", recording], capture_output=True, text=True)
        assert replayed.returncode == 0, f"the recording does not replay: {replayed.stderr}"
        assert json.loads(replayed.stdout)["segments"] > self.kills / 2, replayed.stdout


def main():
    kills = int(os.environ.get("MUSTER_KILLS", "200"))
    seed = int(os.environ.get("MUSTER_SEED", random.SystemRandom().randrange(1 << 30)))
    print(f"seed {seed}", flush=True)
    begin = time.monotonic()
    lives = [Life(seed + i, kills // len(POLICIES), policy) for i, policy in enumerate(POLICIES)]
    threads = [threading.Thread(target=life.run) for life in lives]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for life in lives:
        if life.problem:
            print(life.problem, file=sys.stderr)
    died = sum(life.kills for life in lives)
    print(f"{died} daemons and {sum(life.others_killed for life in lives)} keepers, guards and jobs killed, "
          f"{sum(len(life.accepted) for life in lives)} jobs accepted, {sum(life.launches for life in lives)} launches, "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if any(life.problem for life in lives) else 0


if __name__ == "__main__":
    sys.exit(main())
