"""Run by scripts/wheel-test where nothing but Python, NumPy and the wheel is installed."""

import importlib.util
import pathlib
import subprocess
import sys

import muster
import muster.solve

HERE = pathlib.Path(muster.__file__).parent

# The README's example.
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
for options in ([], ["-s", "mine.py:Mine"]):
    command = [pathlib.Path(sys.executable).parent / "muster", "simulate", "jobs.csv.gz", "-c", "16x8", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

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
