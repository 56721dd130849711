"""Policies in a live daemon: a process of their own, a time limit, and a cluster that goes on whatever they do."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import muster

ROOT = pathlib.Path(__file__).resolve().parents[3]

POLICIES = '''
import os, sys, time
import numpy as np

BEHAVIOUR = os.environ["BEHAVIOUR"]

def behaviour():
    try:
        with open(BEHAVIOUR) as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""

class Base:
    def act(self, jobs):
        """The behaviour that the file asks for."""
        what = behaviour()
        if what == "raise":
            raise ValueError("no idea what to do")
        if what == "hang":
            while True:
                pass
        if what == "sleep":
            time.sleep(3600)
        if what == "die":
            os._exit(3)
        if what == "exit":
            sys.exit(4)
        if what == "garble":
            os.write(3, bytes(range(256)) * 40)
        if what == "giant":
            os.write(3, (2**32 - 1).to_bytes(4, "little") + b"N")
        if what == "curious":
            os.write(3, (10).to_bytes(4, "little") + b"Gjobs.salt")
        if what == "unasked":
            os.write(3, (9).to_bytes(4, "little") + b"I" + bytes(8))
        if what == "close":
            os.close(3)
        return what

class YoungestFirst(Base):
    """Not preemptive, so that an order shows in who starts."""
    preemptive = False

    def order(self, jobs, cluster, now):
        what = self.act(jobs)
        if what == "rubbish":
            return [0] * (len(jobs) + 3)
        if what == "words":
            return ["first", "second"]
        if what == "print":
            print("a policy may print whatever it likes", "\\n" * 3, flush=True)
        return np.argsort(-jobs.submit, kind="stable")

class SmallestKey(Base):
    keys_rest = True

    def key(self, jobs, now):
        if self.act(jobs) == "nan":
            return np.full(len(jobs), np.nan)
        return jobs.gpus

class SeesLoss(Base):
    def key(self, jobs, now):
        with open(BEHAVIOUR + ".seen", "a") as file:
            print(*jobs.metric("loss"), *jobs.metric("nobody"), file=file)
        return jobs.submit

class OneNodeOnly(Base):
    def find(self, job, gpus, cluster, now):
        self.act(None)
        free = cluster.nodes.free
        fits = np.flatnonzero(free >= gpus)
        return [(int(fits[0]), gpus)] if len(fits) else None

class NoGiants(Base):
    def admit(self, job, cluster, now):
        self.act(None)
        return job.gpus <= 2

class Shares(Base):
    by_type = True
    round = 1

    def fractions(self, problem):
        self.act(None)
        share = np.tile(problem.capacity / len(problem), (len(problem), 1)) / problem.gpus[:, None]
        return share / np.maximum(1, share.sum(axis=1, keepdims=True))

class Broken:
    def __init__(self):
        raise RuntimeError("made of nothing")

class SlowToLoad(Base):
    def __init__(self):
        time.sleep(1)

    def key(self, jobs, now):
        return jobs.submit
'''


@pytest.fixture
def live(command, tmp_path, monkeypatch):
    keeper = pathlib.Path(command).parent / "muster-keeper"
    if not keeper.exists():
        pytest.skip("muster-keeper is not built")
    monkeypatch.setenv("MUSTER_PYTHON", sys.executable)
    monkeypatch.setenv("BEHAVIOUR", str(tmp_path / "behaviour"))
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "e2e"))
    import live_daemon
    file = tmp_path / "mine.py"
    file.write_text(POLICIES)

    class Live(live_daemon.Daemon):
        def behave(self, what):
            (tmp_path / "behaviour").write_text(what)

        def log(self):
            return (self.base / "daemon.log").read_text()

        def host(self):
            """The processes of its policies."""
            children = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/children")
            return [int(pid) for path in children for pid in path.read_text().split()
                    if b"muster._host" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]

        def until_logged(self, words):
            live_daemon.wait_until(lambda: words in self.log(), what=f"'{words}' in the log")

        def sleep_job(self, seconds, *options):
            return self.submit(*options, "--", "/bin/sleep", str(seconds))

        def finish(self, *jobs):
            for job in jobs:
                self.until(job, "finished", seconds=60)

        def replays(self, recording):
            return subprocess.run([command, "replay", str(recording)], capture_output=True, text=True, env={})

    Live.policy = staticmethod(lambda name: f"{file}:{name}")
    Live.recording = tmp_path / "recording.jsonl"
    return Live


def order_of_starts(daemon, jobs):
    started = {job: daemon.job(job)["started"] for job in jobs}
    return sorted(jobs, key=started.get)


def test_it_sees_what_jobs_report_under_the_names_of_the_description(live, tmp_path):
    import live_daemon
    with live("--scheduling", live.policy("SeesLoss"), "--pacing", "rounds:length=0.2", "--set", "metrics=loss,watts", gpus=1) as daemon:
        daemon.submit("--", live_daemon.MUSTER, "trainer", "loss.step", "1000", "0.05", "--report", "loss=-2.5")
        seen = tmp_path / "behaviour.seen"
        live_daemon.wait_until(lambda: seen.exists() and "-2.5 nan" in seen.read_text(), what="the loss in the columns")


def test_in_a_simulation_nobody_reports_anything():
    seen = []

    def key(jobs, now):
        seen.extend(jobs.metric("loss").tolist())
        return jobs.submit

    trace = muster.Trace.from_numpy(submit_s=[0, 5], duration_s=[60, 60], gpus=[1, 1])
    muster.simulate(trace, "1x1", scheduling=key)
    assert seen and all(value != value for value in seen)


def test_it_decides_and_the_recording_replays_without_it(live):
    with live("--scheduling", live.policy("YoungestFirst"), "--record", str(live.recording), gpus=2) as daemon:
        assert len(daemon.host()) == 1
        first = daemon.sleep_job(1.5, "--gpus", "2")
        daemon.until_launched(first)
        others = []
        for _ in range(3):
            others.append(daemon.sleep_job(0.1, "--gpus", "2"))
            time.sleep(0.05)
        daemon.finish(first, *others)
        assert order_of_starts(daemon, others) == others[::-1]
        daemon.end()
        assert not [pid for pid in pathlib.Path("/proc").iterdir() if pid.name.isdigit()
                    and (pid / "cmdline").exists() and str(live.recording).encode() in _read(pid / "cmdline")]
    done = daemon.replays(live.recording)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all the same" in done.stdout


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("how, said", [
    ("raise", "no idea what to do"),
    ("hang", "did not answer in time"),
    ("sleep", "did not answer in time"),
    ("die", "exited with 3"),
    ("exit", "SystemExit: 4"),
    ("rubbish", "named job"),
    ("words", "expected places in the columns"),
    ("garble", "did not answer in time"),
    ("giant", "sent a message of 4294967295 bytes"),
    ("curious", "asked for 'jobs.salt', which does not exist"),
    ("unasked", "sent a message that was not asked for"),
    ("close", "is gone"),
])
def test_a_bad_policy_falls_back_and_the_cluster_goes_on(live, how, said):
    with live("--scheduling", live.policy("YoungestFirst"), "--policy-time-limit", "0.3", "--record",
              str(live.recording), gpus=2) as daemon:
        blocker = daemon.sleep_job(2, "--gpus", "2")
        daemon.until_launched(blocker)
        daemon.behave(how)
        jobs = []
        for _ in range(3):
            jobs.append(daemon.sleep_job(0.1, "--gpus", "2"))
            time.sleep(0.05)
        daemon.finish(blocker, *jobs)
        assert order_of_starts(daemon, jobs) == jobs  # first come, first served
        assert said in daemon.log(), daemon.log()
        # And it comes back.
        daemon.behave("")
        end = time.monotonic() + 40
        while "answers again" not in daemon.log() and time.monotonic() < end:
            daemon.finish(daemon.sleep_job(0.05))
        assert "answers again" in daemon.log(), daemon.log()
    done = daemon.replays(live.recording)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_killed_policy_process_is_started_again(live):
    with live("--scheduling", live.policy("SmallestKey"), "--record", str(live.recording), gpus=4) as daemon:
        runs = daemon.sleep_job(4, "--gpus", "2")
        daemon.until_launched(runs)
        for _ in range(3):
            host, = daemon.host()
            os.kill(host, signal.SIGKILL)
            job = daemon.sleep_job(0.1)
            daemon.finish(job)
            wait_for_host(daemon, host)
        assert "killed by signal 9" in daemon.log()
        assert daemon.job(runs)["launches"] == 1  # what runs went on
        daemon.finish(runs)
    assert daemon.replays(live.recording).returncode == 0


def wait_for_host(daemon, other_than, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if [pid for pid in daemon.host() if pid != other_than]:
            return
        daemon.finish(daemon.sleep_job(0.05))  # something to decide about
    raise AssertionError("the process was not started again:\n" + daemon.log())


def test_the_policy_process_ends_with_the_daemon(live):
    with live("--scheduling", live.policy("SmallestKey"), "--policy-time-limit", "3600", gpus=1) as daemon:
        host, = daemon.host()
        daemon.behave("hang")
        daemon.run("submit", "--", "/bin/true")
        time.sleep(0.5)
        daemon.kill()
        end = time.monotonic() + 10
        while pathlib.Path(f"/proc/{host}").exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert not pathlib.Path(f"/proc/{host}").exists()
        daemon.behave("")
        daemon.start()
        daemon.finish(daemon.sleep_job(0.1))


def test_placement_and_admission_too(live):
    with live("--placement", live.policy("OneNodeOnly"), "--admission", live.policy("NoGiants"), "--policy-time-limit", "0.5",
              "--record", str(live.recording), gpus=4) as daemon:
        small = daemon.sleep_job(0.2, "--gpus", "2")
        giant = daemon.sleep_job(0.2, "--gpus", "4")
        daemon.finish(small)
        daemon.until(giant, "refused")
        daemon.behave("raise")
        daemon.finish(daemon.sleep_job(0.2, "--gpus", "4"))  # everyone is let in, on as few nodes as possible
        assert "going on without it" in daemon.log()
    done = daemon.replays(live.recording)
    assert done.returncode == 0, done.stdout + done.stderr


def test_fractions_by_type_in_rounds(live):
    with live("--scheduling", live.policy("Shares"), "--pacing", "rounds:length=2", "--policy-time-limit", "0.5",
              "--record", str(live.recording), gpus=2) as daemon:
        jobs = [daemon.sleep_job(0.5, "--gpus", "2") for _ in range(2)]
        time.sleep(1)
        daemon.behave("raise")
        jobs.append(daemon.sleep_job(0.5, "--gpus", "1"))
        for job in jobs:
            daemon.until(job, "finished", seconds=90)
    done = daemon.replays(live.recording)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nan_keys_and_prints(live):
    with live("--scheduling", live.policy("SmallestKey"), gpus=1) as daemon:
        daemon.behave("nan")
        daemon.finish(daemon.sleep_job(0.1), daemon.sleep_job(0.1))
        assert "is NaN" in daemon.log()
    with live("--scheduling", live.policy("YoungestFirst"), gpus=1) as daemon:
        daemon.behave("print")
        daemon.finish(daemon.sleep_job(0.1), daemon.sleep_job(0.1))
        assert "whatever it likes" in daemon.log() and "going on without it" not in daemon.log()


@pytest.mark.parametrize("name, said", [
    ("Broken", "made of nothing"),
    ("YoungestFurst", "did you mean 'YoungestFirst'"),
])
def test_what_cannot_be_loaded_is_refused_at_the_start(live, name, said):
    daemon = live("--scheduling", live.policy(name), gpus=1)
    with pytest.raises(AssertionError, match=said):
        daemon.start()
    daemon.folder.cleanup()


def test_a_reload_reads_the_file_again(live, tmp_path):
    with live("--scheduling", live.policy("YoungestFirst"), gpus=2) as daemon:
        file = tmp_path / "mine.py"
        file.write_text(POLICIES.replace("np.argsort(-jobs.submit", "np.argsort(jobs.submit"))
        os.utime(file, (time.time() + 5, time.time() + 5))
        os.kill(daemon.process.pid, signal.SIGHUP)
        daemon.until_logged("reloaded")
        blocker = daemon.sleep_job(1, "--gpus", "2")
        daemon.until_launched(blocker)
        jobs = [daemon.sleep_job(0.1, "--gpus", "2") for _ in range(3)]
        daemon.finish(*jobs)
        assert order_of_starts(daemon, jobs) == jobs
        file.write_text("this is no Python\n")
        os.utime(file, (time.time() + 9, time.time() + 9))
        os.kill(daemon.process.pid, signal.SIGHUP)
        daemon.until_logged("not reloaded")
        daemon.finish(daemon.sleep_job(0.1))


def test_when_will_it_start(live):
    with live("--scheduling", live.policy("SmallestKey"), gpus=1) as daemon:
        runs = daemon.submit("--estimate", "30", "--", "/bin/sleep", "20")
        daemon.until_launched(runs)
        waits = daemon.submit("--estimate", "30", "--", "/bin/sleep", "20")
        told = json.loads(daemon.run("explain", "--json", str(waits)).stdout)
        assert told["expected_start"] is not None and told["expected_start"] > 0
        daemon.run("cancel", str(runs))
        daemon.run("cancel", str(waits))
