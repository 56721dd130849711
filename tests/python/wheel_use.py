"""Run by scripts/wheel-test where nothing but Python, NumPy and the wheel is installed."""

import importlib.util
import pathlib
import re
import subprocess
import sys
import time

import muster
import muster.solve

HERE = pathlib.Path(muster.__file__).parent

# Every library that it carries comes with its licence, and our own files are there, too.
listed = dict(line.split(": ") for line in (HERE / "libs" / "licences" / "LIBRARIES").read_text().splitlines())
assert listed.keys() == {path.name for path in (HERE / "libs").iterdir() if path.is_file()}, listed
for package in listed.values():
    assert "opyright" in (HERE / "libs" / "licences" / package.split()[0]).read_text(encoding="utf-8"), package
for text in ("LICENSE", "THIRD_PARTY.md"):
    assert (HERE / "share" / text).stat().st_size > 1000, text

# The README's example, word for word.
example = re.search(r"```python\n(.*?)```", pathlib.Path("README.md").read_text(encoding="utf-8"), re.DOTALL).group(1)
space = {}
exec(compile(example, "README.md", "exec"), space)
assert space["comparison"]["Las"]["finished"] == 1000

trace = muster.Trace.generate("philly-like", jobs=400, seed=7)


def least_service(jobs, now):
    return jobs.gpu_seconds


result = muster.simulate(trace, "16x8", scheduling=least_service)
assert result["finished"] == 400, result
assert "Job #3" in result.explain(3)
assert "<html" in muster.compare(trace, "16x8", scheduling=["fifo", "las"]).report().html

# Presets come with it.
assert muster.simulate(trace, "16x8", preset="blox", output=False)["finished"] > 0

# Programs: its own solver, and the libraries that come with it.
assert muster.solve.allocate([[4.0, 1.0], [2.0, 1.0]], capacity=[1, 1]).shape == (2, 2)
assert muster.simulate(trace[:40], "2x8", scheduling="sia", pacing="rounds:length=60", output=False)["finished"] > 0

# The command, and a policy in a file.
pathlib.Path("mine.py").write_text("class Mine:\n    def key(self, jobs, now):\n        return jobs.submit\n")
trace.write("jobs.csv.gz")
COMMAND = pathlib.Path(sys.executable).parent / "muster"


def called(*words, wanted=True):
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 or not wanted, done.stdout + done.stderr
    return done


for options in ([], ["-s", "mine.py:Mine"]):
    called("simulate", "jobs.csv.gz", "-c", "16x8", *options)

# A daemon, its keeper and a policy in Python: jobs are launched, wait for GPUs, and end.
with open("daemon.log", "w") as log:
    daemon = subprocess.Popen([COMMAND, "serve", "--state", "state", "--fake-gpus", "2", "-s", "mine.py:Mine"],
                              stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 60
        while called("status", "--state", "state", wanted=False).returncode != 0:
            assert daemon.poll() is None and time.monotonic() < until, pathlib.Path("daemon.log").read_text()
            time.sleep(0.1)
        jobs = [called("submit", "--state", "state", "--gpus", "2", "--", "/bin/sh", "-c",
                       "echo $CUDA_VISIBLE_DEVICES >>done").stdout.strip() for _ in range(2)]
        called("wait", "--state", "state", *jobs)
        assert pathlib.Path("done").read_text() == "0,1\n0,1\n", pathlib.Path("daemon.log").read_text()
        assert "going on without it" not in pathlib.Path("daemon.log").read_text()
    finally:
        daemon.terminate()
        assert daemon.wait(timeout=60) == 0, pathlib.Path("daemon.log").read_text()

# What is optional says what it misses.
for what, call in (("pandas", lambda: result.jobs), ("Matplotlib", result.plot_jct),
                   ("scikit-learn", lambda: __import__("muster.learn")), ("Gymnasium", lambda: __import__("muster.env"))):
    try:
        call()
    except ImportError as missing:
        assert "need" in str(missing) and "pip install" in str(missing), missing
    else:
        assert importlib.util.find_spec(what.lower().replace("scikit-learn", "sklearn")) is not None, what

# Its libraries came out of the wheel, not from the machine.
loaded = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if ".so" in line}
assert any(path.startswith(str(HERE / "libs")) for path in loaded), loaded
for name in ("libCbc", "libClp", "libfmt", "libsimdjson", "libstdc++"):
    strangers = [path for path in loaded if name in path and path.startswith(("/usr/lib", "/lib"))]
    assert not strangers, strangers
print(f"muster {muster.__version__} works here, on Python {sys.version.split()[0]}, with "
      f"{len(list((HERE / 'libs').iterdir()))} libraries of its own")
