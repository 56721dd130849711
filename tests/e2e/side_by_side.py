"""Runs the tests of a file side by side instead of one after the other: most of their time they wait for real jobs.

    if __name__ == "__main__":
        side_by_side.main()

Each test must bring its own daemon or lab. Tests of a class with setUpClass share what that makes: they stay in one row. With
names of tests on the command line only these run, one after the other, as unittest has it.
"""

import concurrent.futures
import io
import os
import sys
import time
import unittest


def rows_of(suite):
    """What runs one after the other: the tests of a class that shares something, or a single test."""
    for tests in suite:
        tests = list(tests)
        if tests and "setUpClass" in vars(type(tests[0])):
            yield tests
        else:
            yield from ([test] for test in tests)


def run(tests):
    """Whether a row passed, how many tests it had, and how many of them were skipped."""
    begun, said = time.monotonic(), io.StringIO()
    result = unittest.TextTestRunner(said, verbosity=2).run(unittest.TestSuite(tests))
    words = said.getvalue()
    if result.wasSuccessful():
        words = "\n".join(line for line in words.splitlines() if line.endswith("ok") or "skipped" in line)
    print(f"{words}\n{time.monotonic() - begun:6.1f} s: {tests[0]}", flush=True)
    return result.wasSuccessful(), result.testsRun, len(result.skipped)


def main(at_once=None, first=()):
    """`first`: names of classes whose tests take longest, to be begun before the others."""
    if len(sys.argv) > 1:
        unittest.main(verbosity=2)
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    with concurrent.futures.ThreadPoolExecutor(at_once or 2 + (os.cpu_count() or 1)) as pool:
        rows = sorted(rows_of(suite), key=lambda tests: type(tests[0]).__name__ not in first)
        results = list(pool.map(run, rows))
    print(f"{sum(ran for _, ran, _ in results)} tests, {sum(not good for good, _, _ in results)} rows of them failed, "
          f"{sum(skipped for _, _, skipped in results)} skipped")
    sys.exit(0 if results and all(good for good, _, _ in results) else 1)
