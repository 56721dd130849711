"""Ctrl-C ends every long call soon, with KeyboardInterrupt and nothing left that passes for a result."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

# Who runs the tests in the background may have had SIGINT ignored.
PRELUDE = """
import os, signal, subprocess, sys, threading, time
import muster
signal.signal(signal.SIGINT, signal.default_int_handler)
"""

# What comes before, the call, and what must hold afterwards. Each takes far longer than the test may.
CALLS = {
    "simulate": ("", "muster.simulate(generate='poisson:jobs=50000000', cluster='64x8', scheduling='las', output='out')",
                 "not os.path.exists('out')"),
    "compare": ("trace = muster.Trace.generate('poisson', jobs=300000, load=3, cluster='64x8')",
                "muster.compare(trace, '64x8', scheduling=['srtf', 'las', 'gavel-max-min-fairness'], output='out')",
                "not os.path.exists('out/las')"),
    "sweep": ("", "muster.sweep(generate='poisson:jobs=1000000', cluster='64x8', scheduling=['las', 'srtf'], seeds=50)",
              "True"),
    "sweep of jobs in memory": (
        "trace = muster.Trace.generate('poisson', jobs=300000)",
        "muster.sweep(trace, '64x8', scheduling=['las', 'srtf'], vary={'restart.restart': list(range(100))})", "True"),
    "reproduce": ("", "muster.reproduce('blox', 'figure6')", "True"),
    "draw a trace": ("", "muster.Trace.generate('poisson', jobs=15000000)", "True"),
    # Lines as long as somebody reads.
    "read a trace": ("""
os.mkfifo("jobs.csv")
def write():
    with open("jobs.csv", "w") as file:
        file.write("job_id,submit_s,duration_s,gpus\\n")
        number = 0
        try:
            while True:
                file.writelines(f"{i},{i},60,1\\n" for i in range(number, number + 5000))
                number += 5000
                time.sleep(0.02)
        except BrokenPipeError:
            pass
threading.Thread(target=write, daemon=True).start()
""", "muster.Trace.read('jobs.csv', format='muster')", "True"),
    "write a trace": ("trace = muster.Trace.generate('poisson', jobs=3000000)", "trace.write('jobs.csv.gz')",
                      "not os.listdir('.')"),
    "begin an episode": ("from muster.env import SchedulingEnv\n"
                         "env = SchedulingEnv(generate='poisson:jobs=20000000', cluster='2x8')", "env.reset(seed=1)",
                         "env._core.over"),
    "turn by turn": ("engine = muster.Engine(generate='poisson:jobs=3000000', cluster='64x8', scheduling='las')",
                     "engine.run()", "not engine.over and engine.turn()"),
}
CALLS["allocate"] = (
    "import numpy as np, muster.solve\nrates = np.random.default_rng(1).uniform(1, 5, size=(500000, 3))",
    "muster.solve.allocate(rates, [500] * 3)", "True")
POLICY = """
def slow(jobs, now):
    time.sleep(0.002)
    return jobs.submit
"""
CALLS["turns of a policy in Python"] = (
    POLICY + "engine = muster.Engine(generate='poisson:jobs=100000', cluster='64x8', scheduling=slow)", "engine.run()",
    "not engine.over and engine.turn()")
CALLS["one turn after the other"] = (
    POLICY + "engine = muster.Engine(generate='poisson:jobs=100000', cluster='64x8', scheduling=slow)",
    "all(iter(engine.turn, False))", "not engine.over and engine.turn()")
LEARN = """
import numpy as np
from muster.learn import EBMClassifier, EBMRegressor, TreeClassifier
random = np.random.default_rng(1)
X = random.uniform(size=(200000, 12))
y = X[:, 0] + np.sin(9 * X[:, 1]) * X[:, 2] + random.normal(size=len(X))
"""
CALLS["train an EBM"] = (LEARN + "model = EBMRegressor(max_rounds=100000)", "model.fit(X, y)",
                         "not vars(model).keys() - model.get_params().keys()")
CALLS["train an EBM again"] = (LEARN + """
old = np.where(y[:500] > 1, "many", "few")
model = EBMClassifier(max_rounds=50).fit(X[:500, :3], old)
before = model.predict_proba(X[:9, :3])
""", "model.set_params(max_rounds=100000).fit(X, y > 1)",
                               "(model.predict_proba(X[:9, :3]) == before).all() and set(model.classes_) == {'many', 'few'}")
CALLS["train a tree"] = (LEARN + "model = TreeClassifier(max_depth=60)", "model.fit(np.tile(X, (3, 3)), np.tile(y > 1, 3))",
                         "not vars(model).keys() - model.get_params().keys()")


@pytest.fixture
def started():
    """Starts a script; one that is still there at the end of the test is killed."""
    processes = []

    def start(*words):
        processes.append(subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return processes[-1]
    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c(name, started, in_tmp):
    before, call, afterwards = CALLS[name]
    if "muster.env" in before:
        pytest.importorskip("gymnasium")
    if "muster.learn" in before:
        pytest.importorskip("sklearn")
    script = f"""{PRELUDE}{before}
print("begun", flush=True)
try:
    {call}
    print("came to its end")
except KeyboardInterrupt:
    assert {afterwards}
    print("stopped")
"""
    process = started("-c", script)
    assert process.stdout.readline() == "begun\n", process.stderr.read()
    time.sleep(0.7)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert said == "stopped\n", said + errors
    # To its end each would take longer; other tests keep the cores busy meanwhile.
    assert time.monotonic() - began < 25


SLOW_POLICY = """
import time
class Slow:
    def key(self, jobs, now):
        open(f"asked-{os.getpid()}", "w").close()
        time.sleep(30)
        return jobs.submit
"""


def gone(process):
    """Whether a process is no more; one that nobody has waited for yet does not count."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_sweep_over_processes(started, in_tmp):
    """The processes end too, at once, whether the terminal tells them or not, and say nothing of their own."""
    (in_tmp / "script.py").write_text(PRELUDE + SLOW_POLICY + """
if __name__ == "__main__":
    trace = muster.Trace.generate("poisson", jobs=10)
    muster.sweep(trace, "2x8", scheduling=[Slow], seeds=4, processes=2)
""")
    process = started("script.py")
    deadline = time.monotonic() + 60
    while len(asked := list(in_tmp.glob("asked-*"))) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - began < 25
    assert errors.count("KeyboardInterrupt") == 1, errors
    children = [int(file.name.rpartition("-")[2]) for file in asked]
    assert process.pid not in children and all(gone(child) for child in children)


def test_a_policy_that_never_returns(started, in_tmp):
    script = PRELUDE + """
def stuck(jobs, now):
    print("asked", flush=True)
    while True:
        pass
try:
    muster.simulate(muster.Trace.generate("poisson", jobs=10), "2x8", scheduling=stuck)
except KeyboardInterrupt:
    assert muster.simulate(muster.Trace.generate("poisson", jobs=10), "2x8")["finished"] == 10
    print("stopped", flush=True)
"""
    process = started("-c", script)
    assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert rest == "stopped\n" and process.returncode == 0


COMMAND = """
import signal, sys
from muster.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["muster", *sys.argv[1:]]
print("begun", flush=True)
sys.exit(main())
"""


@pytest.mark.parametrize("words, status", [
    # It looks for Ctrl-C and ends in good order.
    (["train", "table.csv", "--target", "y", "--rounds", "100000", "-o", "made"], 130),
    # It does not, and is ended at once. Nobody writes to the pipe.
    (["table", "pipe.csv", "-o", "made"], -signal.SIGINT),
])
def test_the_command_of_the_package(words, status, started, in_tmp):
    """As the command alone."""
    rows = np.random.default_rng(1).uniform(size=(60000, 8))
    np.savetxt("table.csv", rows, delimiter=",", fmt="%.6f", comments="", header=",".join("abcdefgy"))
    os.mkfifo("pipe.csv")
    process = started("-c", COMMAND, "learn", *words)
    assert process.stdout.readline() == "begun\n"
    time.sleep(1.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert process.returncode == status, said + errors
    assert time.monotonic() - began < 25 and sorted(os.listdir(".")) == ["pipe.csv", "table.csv"]
