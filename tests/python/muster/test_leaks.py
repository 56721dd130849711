"""A thousand runs in one process hold no more memory than a hundred."""

import resource

import muster


def held_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def test_a_thousand_runs():
    trace = muster.Trace.generate("poisson", jobs=40)

    class Policy:
        keys_rest = True

        def key(self, jobs, now):
            return jobs.gpu_seconds

    def some(runs):
        for number in range(runs):
            if number % 10 == 0:
                muster.simulate(trace, "2x8", scheduling=Policy).jobs
            muster.simulate(trace, "2x8", scheduling=Policy if number % 2 else "las", output=False, progress=False)

    some(200)
    before = held_mb()
    some(1000)
    assert held_mb() - before < 8
