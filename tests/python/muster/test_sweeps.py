"""Sweeps: what is varied reaches every run, whoever carries it out."""

import numpy
import pytest

import muster


class Las:
    keys_rest = True

    def __init__(self, quantum=300):
        self.quantum = quantum

    def key(self, jobs, now):
        return jobs.gpu_seconds


def figures(*words, **settings):
    return muster.sweep(*words, progress=False, **settings)["avg_jct_s"].tolist()


@pytest.mark.parametrize("place, workload", [
    ("load", {"generate": "poisson:jobs=200"}),
    ("load", {"generate": {"name": "poisson", "jobs": 200}}),
    ("load", {"workload": {"generator": "poisson:jobs=200"}}),
    ("load", {"trace": "jobs.csv"}),
    ("workload.generator.load", {"generate": "poisson:jobs=200"}),
])
def test_loads_reach_policies_in_python(place, workload, in_tmp):
    if "trace" in workload:
        muster.Trace.generate("poisson", jobs=200).write("jobs.csv")
    more = {"cluster": "2x8", "vary": {place: [0.5, 2.0]}, **workload}
    theirs = figures(scheduling=["las"], **more)
    assert theirs[0] != theirs[1]
    assert figures(scheduling=[Las], processes=1, **more) == theirs
    assert muster.sweep(scheduling=["las"], **more)[place].tolist() == [0.5, 2.0]
    mixed = muster.sweep(scheduling=["las", Las], processes=1, **more)
    assert mixed["avg_jct_s"].tolist() == theirs * 2
    assert mixed["scheduling"].tolist() == ["las", "las", "Las", "Las"]


def test_parameters_of_policies(trace, in_tmp):
    """As text, as a dict, and varied; of a generator, of jobs in memory and in Python: one answer."""
    drawn = {"generate": "philly-like:jobs=300", "cluster": "2x8"}
    memory = {"trace": trace, "cluster": "4x8"}
    (in_tmp / "mine.py").write_text("class Las:\n    keys_rest = True\n    def __init__(self, quantum=300):\n"
                                    "        self.quantum = quantum\n    def key(self, jobs, now):\n"
                                    "        return jobs.gpu_seconds\n")
    for jobs in (drawn, memory):
        plain = [figures(scheduling=f"las:quantum={quantum}", **jobs)[0] for quantum in (60, 3600)]
        assert plain[0] != plain[1]
        tables = [{"name": "las", "quantum": 60}, {"name": "las", "quantum": 3600}]
        assert [figures(scheduling=table, **jobs)[0] for table in tables] == plain
        listed = muster.sweep(scheduling=tables, **jobs)
        assert listed["avg_jct_s"].tolist() == plain
        assert listed["scheduling"].tolist() == ["las:quantum=60", "las:quantum=3600"]
        assert figures(scheduling="las", vary={"scheduling.quantum": [60, 3600]}, **jobs) == plain
        assert figures(scheduling=Las, vary={"scheduling.quantum": [60, 3600]}, processes=1, **jobs) == plain
        mine = [{"name": "mine.py:Las", "quantum": quantum} for quantum in (60, 3600)]
        assert figures(scheduling=mine, processes=1, **jobs) == plain
        assert figures(scheduling=mine[1], processes=1, **jobs) == plain[1:]


def test_seeds_draw_everything():
    """Also where the description has seeds of its own."""
    more = {"generate": "poisson:jobs=100,load=2,seed=7", "cluster": "2x8", "seeds": [3, 4],
            "failures": {"node_mtbf": 50000, "seed": 9}}
    theirs = figures(scheduling="las", **more)
    assert theirs[0] != theirs[1] and figures(scheduling=Las, processes=1, **more) == theirs


def test_the_policy_of_a_preset(in_tmp):
    (in_tmp / "run.toml").write_text('scheduling = "srtf"\n')
    jobs = {"generate": "philly-like:jobs=200", "cluster": "2x8"}
    assert figures(file="run.toml", **jobs) == figures(scheduling="srtf", **jobs) != figures(scheduling="fifo", **jobs)


@pytest.mark.parametrize("settings, message", [
    ({"scheduling": "las:quantum=60", "vary": {"scheduling.quantum": [60]}}, "says what it is: choose one"),
    ({"scheduling": [{"name": "las", "quantum": 60}], "vary": {"scheduling.quantum": [60]}}, "las:quantum=60 says what"),
    ({"scheduling": ["las"], "vary": {"scheduling": ["fifo"]}}, "scheduling is given and in vary, too"),
    ({"vary": {"cluster": ["2x8"]}}, "cluster is given and in vary, too"),
    ({"scheduling": [{"quantum": 60}]}, "each has a name"),
])
def test_said_twice(settings, message):
    with pytest.raises(muster.Error, match=message):
        muster.sweep(generate="poisson:jobs=20", cluster="2x8", **settings)


def test_names_in_tables(trace, in_tmp):
    nodes = muster.Cluster.from_nodes([{"count": 2, "gpus": 8}])
    table = muster.sweep(trace[:20], [nodes, muster.Cluster("4x8")], scheduling=["fifo", None], seeds=numpy.int64(2))
    assert table["cluster"].tolist() == ["2 nodes with 16 GPUs"] * 4 + ["4x8"] * 4
    assert table["scheduling"].tolist() == ["fifo", "fifo", "default", "default"] * 2
    assert table["seed"].tolist() == [1, 2] * 4
    assert len(muster.sweep(trace[:5], "2x8", scheduling=[{"name": "las", "quantum": 60}, "las"])) == 2
    tables = [{"name": "las", "quantum": 60}, {"name": "las", "quantum": 3600}, {"quantum": 9}, None]
    (in_tmp / "run.toml").write_text('scheduling = "las"\n')
    comparison = muster.compare(trace[:20], "4x8", scheduling=tables, file="run.toml")
    assert list(comparison) == ["las:quantum=60", "las:quantum=3600", "quantum=9", "default"]


def stuck(jobs, now):
    while True:
        pass


def test_time_limits(trace):
    assert len(muster.sweep(trace[:5], "2x8", scheduling=["las"], time_limit=5)) == 1
    with pytest.raises(muster.PolicyError, match="was ended at"):
        muster.sweep(trace[:5], "2x8", scheduling=[stuck], processes=1, time_limit=0.2)
