"""`muster serve` end to end: real daemon, real keepers, real jobs. The tests are in serve_*.py, one file for each idea.

    tests/e2e/serve.sh                       all of them, side by side
    tests/e2e/serve.sh Logs Leases.test_X    these alone
"""

import importlib
import pathlib
import unittest

import side_by_side


def tests_beside():
    """The classes of tests in the files beside this one, by name."""
    found = {}
    for file in sorted(pathlib.Path(__file__).parent.glob("serve_*.py")):
        for name, what in vars(importlib.import_module(file.stem)).items():
            if isinstance(what, type) and issubclass(what, unittest.TestCase):
                assert found.setdefault(name, what) is what, f"two classes are called {name}"
    return found


globals().update(tests_beside())

if __name__ == "__main__":
    # They wait for most of their time, and leave the processors alone.
    side_by_side.main(at_once=8, first=("Demo", "Leases", "Systems"))
