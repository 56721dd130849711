"""Turn by turn: the same run as in one go, other decisions, two futures."""

import threading

import pytest

import muster


def test_turns_are_the_run(trace):
    engine = muster.Engine(trace, "8x8", scheduling="las")
    while engine.turn():
        assert engine.cluster.free_gpus >= 0
    whole = muster.simulate(trace, "8x8", scheduling="las")
    assert engine.over
    for key in ("avg_jct_s", "p99_jct_s", "preemptions", "makespan_s"):
        assert engine.figures()[key] == whole[key]


def test_a_fork_goes_the_same_way(trace):
    engine = muster.Engine(trace, "4x8", scheduling="las")
    engine.run(until=30000)
    fork = engine.fork()
    assert fork.now == engine.now and (fork.jobs.id == engine.jobs.id).all()
    assert (fork.jobs.gpu_seconds == engine.jobs.gpu_seconds).all()
    engine.run()
    fork.run()
    assert engine.figures()["avg_jct_s"] == fork.figures()["avg_jct_s"]


def test_two_futures(trace):
    engine = muster.Engine(trace, "2x8", scheduling="fifo")
    engine.run(until=30000)
    other = engine.fork()
    other.use("srtf")
    again = other.fork()
    for one in (engine, other, again):
        one.run()
    assert other.figures()["avg_jct_s"] < engine.figures()["avg_jct_s"]
    assert again.figures()["avg_jct_s"] == other.figures()["avg_jct_s"]


def test_other_decisions():
    trace = muster.Trace.from_numpy(submit_s=[0, 0, 0], duration_s=[100, 100, 100], gpus=[4, 4, 4])
    engine = muster.Engine(trace, "1x4", scheduling="srtf")
    engine.turn()
    assert list(engine.jobs.running) == [True, False, False]
    engine.turn(order=[2, 1])
    started = [one["job"] for one in engine.decisions if one["action"] == "start"]
    assert started == [2] or 2 in started
    fork = engine.fork()
    engine.run()
    fork.run()
    assert engine.figures()["finished"] == fork.figures()["finished"] == 3


def test_bad_orders(trace):
    engine = muster.Engine(trace, "8x8")
    engine.turn()
    with pytest.raises(muster.Error, match="neither waits nor runs"):
        engine.turn(order=[99999])
    first = int(engine.jobs.id[0])
    with pytest.raises(muster.Error, match="twice"):
        engine.turn(order=[first, first])
    for odd in ("a", 0.5, None):
        with pytest.raises(muster.Error, match="expected numbers of jobs"):
            engine.turn(order=[odd])
    with pytest.raises(muster.Error, match="until is NaN"):
        engine.run(until=float("nan"))
    with pytest.raises(muster.Error, match="did you mean 'las'"):
        engine.use("laz")


def test_views_end_with_the_turn(trace):
    engine = muster.Engine(trace, "8x8")
    engine.turn()
    jobs = engine.jobs
    engine.turn()
    with pytest.raises(muster.Error, match="earlier decision"):
        jobs.gpus


def test_python_policies_too(trace):
    class Las:
        keys_rest = True
        quantum = 300

        def key(self, jobs, now):
            return jobs.gpu_seconds
    engine = muster.Engine(trace, "8x8", scheduling=Las)
    engine.run()
    assert engine.figures()["avg_jct_s"] == muster.simulate(trace, "8x8", scheduling="las")["avg_jct_s"]


class Counting:
    """Remembers what it has seen, and decides by it."""

    def __init__(self):
        self.calls = 0

    def order(self, jobs, cluster, now):
        self.calls += 1
        turned = self.calls // 50 % 2
        return range(len(jobs))[::-1] if turned else range(len(jobs))


def decisions_until_the_end(engine):
    made = []
    while engine.turn():
        made += [(one["time_s"], one["action"], one["job"]) for one in engine.decisions]
    return made


@pytest.mark.parametrize("settings", [
    {"scheduling": Counting},
    {"scheduling": "gavel-max-min-fairness", "pacing": "rounds:length=360"},
    {"scheduling": "las", "failures": {"node_mtbf": 40000, "node_repair": 2000}},
    {"scheduling": "tiresias"},
    {"scheduling": "srtf", "durations": "estimate", "errors": {"name": "log-normal", "sigma": 1}},
])
def test_a_fork_is_exact_whatever_its_policies_keep(trace, settings):
    engine = muster.Engine(trace, "2x8", **settings)
    for _ in range(120):
        engine.turn()
    fork = engine.fork()
    assert fork.figures() == engine.figures()
    assert decisions_until_the_end(fork) == decisions_until_the_end(engine)
    assert fork.figures() == engine.figures()


def test_forks_share_nothing(trace):
    policy = Counting()
    engine = muster.Engine(trace, "2x8", scheduling=policy)
    engine.run(until=20000)
    calls = policy.calls
    fork = engine.fork()
    fork.run()
    assert policy.calls == calls and not engine.over
    del engine
    assert fork.over and fork.fork().figures() == fork.figures()


def test_a_fork_does_not_repeat_the_past(trace):
    asked = []

    class Slow:
        def key(self, jobs, now):
            asked.append(now)
            return jobs.submit
    engine = muster.Engine(trace, "4x8", scheduling=Slow)
    engine.run(until=30000)
    before = len(asked)
    engine.fork()
    assert len(asked) == before


def test_a_policy_that_cannot_be_copied_says_so(trace):
    class Locked:
        def __deepcopy__(self, memo):
            raise RuntimeError("not me")

        def key(self, jobs, now):
            return jobs.submit
    engine = muster.Engine(trace, "4x8", scheduling=Locked())
    engine.turn()
    with pytest.raises(muster.Error, match="cannot be copied"):
        engine.fork()
    engine.run()
    assert engine.over


def test_a_policy_that_never_returns(trace):
    def stuck(jobs, now):
        while now > 1000:
            pass
        return jobs.submit
    engine = muster.Engine(trace, "4x8", scheduling=stuck, time_limit=0.3)
    with pytest.raises(muster.PolicyError, match="was ended at") as error:
        engine.run()
    assert isinstance(error.value.__cause__, TimeoutError) and engine.over
    with pytest.raises(muster.Error, match="time_limit is 0, but must be above 0"):
        muster.Engine(trace, "4x8", time_limit=0)


def test_two_threads(trace):
    """The second is refused, whatever it asks, and the first goes on."""
    inside, leave = threading.Event(), threading.Event()

    def waits(jobs, now):
        inside.set()
        leave.wait(30)
        return jobs.submit
    engine = muster.Engine(trace[:20], "4x8", scheduling=waits)
    first = threading.Thread(target=engine.run)
    first.start()
    assert inside.wait(30)
    calls = [engine.run, engine.turn, engine.fork, engine.figures, lambda: engine.now, lambda: engine.jobs,
             lambda: engine.use("las"), lambda: engine.decisions, lambda: engine.cluster]
    try:
        for call in calls:
            with pytest.raises(muster.Error, match="in use by another thread"):
                call()
    finally:
        leave.set()
        first.join()
    assert engine.over and engine.figures()["finished"] == 20
