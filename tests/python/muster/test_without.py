"""Without an optional library the package works, and what needs the library says so."""

import subprocess
import sys

import pytest

PRELUDE = """
import sys
sys.modules[{missing!r}] = None  # as if it were not installed
import muster
trace = muster.Trace.generate("poisson", jobs=50)
result = muster.simulate(trace, "2x8", scheduling="las")
assert result["finished"] == 50
assert len(result.columns()["jct_s"]) == 50 and "Job #3" in result.explain(3) and "<html" in result.report().html
"""


@pytest.mark.parametrize("missing, call, message", [
    ("pandas", "result.jobs", "pip install pandas"),
    ("pandas", "trace.to_pandas()", "pip install pandas"),
    ("pandas", "muster.compare(trace, '2x8', scheduling=['fifo', 'las']).table", "pip install pandas"),
    ("matplotlib", "result.plot_jct()", "pip install matplotlib"),
    ("sklearn", "import muster.learn", "pip install scikit-learn"),
    ("gymnasium", "import muster.env", "pip install gymnasium"),
])
def test_it_says_what_is_missing(missing, call, message):
    script = PRELUDE.format(missing=missing) + f"""
try:
    {call}
except ImportError as error:
    assert {message!r} in str(error), error
    print("said so")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "said so\n", done.stdout + done.stderr


def test_progress_without_tqdm():
    script = PRELUDE.format(missing="tqdm") + "muster.simulate(trace, '2x8', progress=True)\nprint('ran')\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.endswith("ran\n"), done.stdout + done.stderr
