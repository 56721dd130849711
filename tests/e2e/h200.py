"""The recorded runs of examples/h200 beside today's simulator."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples" / "h200"))
import compare  # noqa: E402


def muster(*words):
    done = subprocess.run([os.environ["MUSTER"], *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0 or "warning" in done.stderr:  # it has all that the policies need
        raise AssertionError(done.stderr)


class Measured(unittest.TestCase):
    def test_the_simulator_says_what_was_measured(self):
        files = sorted((ROOT / "examples" / "h200" / "measured").glob("*.json"))
        measured = [json.loads(file.read_text()) for file in files]
        scenarios = [(name, scenario, run) for run in measured for name, scenario in run["scenarios"].items()]
        self.assertEqual(sorted(name for name, _, _ in scenarios), ["packed", "packed-mps", "preempted"])
        for name, scenario, run in scenarios:
            with self.subTest(name):
                said = compare.predict(muster, scenario, run[scenario["mode"]], run["costs"])
                for off in compare.show(name, scenario, said):
                    self.assertLess(abs(off), 0.05)
                for job in scenario["jobs"]:
                    self.assertEqual(said[job["name"]][2], job["preemptions"], "preemptions")


if __name__ == "__main__":
    unittest.main(verbosity=2)
