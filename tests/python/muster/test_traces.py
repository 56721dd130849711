"""Traces and clusters: in, out, and what is wrong with them."""

import pickle

import numpy as np
import pandas
import pytest

import muster


def test_columns_round_trip(trace):
    again = muster.Trace.from_pandas(trace.to_pandas())
    assert len(again) == len(trace)
    for name, values in trace.columns.items():
        np.testing.assert_array_equal(again[name], values, err_msg=name)


def test_round_trip_gives_the_same_run(trace):
    again = muster.Trace.from_numpy(**trace.columns)
    one = muster.simulate(trace, "8x8", scheduling="las")
    two = muster.simulate(again, "8x8", scheduling="las")
    pandas.testing.assert_frame_equal(one.jobs, two.jobs)


def test_files(trace, in_tmp):
    trace.write("jobs.csv.gz")
    again = muster.Trace.read("jobs.csv.gz")
    np.testing.assert_array_equal(again["submit_s"], trace["submit_s"])
    assert len(muster.Trace.read("jobs.csv.gz", limit=7)) == 7


def test_slices(trace):
    assert len(trace[10:20]) == 10
    assert (trace[10:20]["submit_s"] == trace["submit_s"][10:20]).all()
    big = trace[trace["gpus"] >= 8]
    assert len(big) == (trace["gpus"] >= 8).sum()
    middle = trace.between(trace["submit_s"][50], trace["submit_s"][100])
    assert middle["submit_s"][0] == 0
    assert list(trace[10:20]["job_id"]) == [str(i) for i in range(10, 20)]


def test_changes(trace):
    twice = trace.faster(2)
    np.testing.assert_allclose(twice["submit_s"] * 2, trace["submit_s"])
    renamed = trace.replace(user=["anna"] * len(trace))
    assert set(renamed["user"]) == {"anna"}


@pytest.mark.parametrize("columns, message", [
    ({"submit_s": [0, 1], "duration_s": [1], "gpus": [1]}, "column duration_s has 1 rows"),
    ({"submit_s": [0], "duration_s": [float("nan")], "gpus": [1]}, "row 0: duration_s is nan"),
    ({"submit_s": [0], "duration_s": [-5], "gpus": [1]}, "row 0: found a duration of -5"),
    ({"submit_s": [-1], "duration_s": [5], "gpus": [1]}, "row 0: "),
    ({"submit_s": [0], "duration_s": [5], "gpus": [1.5]}, "gpus is 1.5, expected a whole number"),
    ({"submit_s": [0], "duration_s": [5], "gpus": [0]}, "row 0: "),
    ({"submit_s": [5, 0], "duration_s": [5, 5], "gpus": [1, 1]}, "sort=True"),
    ({"submit_s": ["x"], "duration_s": [5], "gpus": [1]}, "column submit_s holds"),
    ({"submit_s": [[0]], "duration_s": [5], "gpus": [1]}, "2 dimensions"),
    ({"submit_s": [0], "duration_s": [5]}, "needs the column gpus"),
    ({"submit_s": [0], "duration_s": [5], "gpu": [1]}, "did you mean 'gpus'"),
    ({"submit_s": [0], "duration_s": [float("inf")], "gpus": [1]}, "row 0: "),
    ({"submit_s": 0, "duration_s": 5, "gpus": 1}, "column submit_s is a int, expected one value per job"),
    ({"submit_s": [0], "duration_s": [5 + 1j], "gpus": [1]}, "column duration_s holds complex128"),
    ({"submit_s": np.array(["2026-01-01"], dtype="M8[ns]"), "duration_s": [5], "gpus": [1]}, "column submit_s holds datetime"),
    ({"submit_s": [0], "duration_s": [None], "gpus": [1]}, "row 0: duration_s is nan"),
    ({"submit_s": [0], "duration_s": [5], "gpus": [10**400]}, "column gpus holds"),
])
def test_bad_columns(columns, message):
    with pytest.raises(muster.Error, match=message):
        muster.Trace.from_numpy(**columns)


@pytest.mark.parametrize("values, message", [
    (5, "column duration_s is a int, expected one value per job"),
    (np.array(5), "column duration_s is a ndarray, expected one value per job"),
    ("abcde", "column duration_s is a str, expected one value per job"),
    ([5], "column duration_s has 1 rows, the trace has 5"),
    ([[5]] * 5, "column duration_s has 2 dimensions"),
    (["a"] * 5, "column duration_s holds"),
    ([5, 5, -1, 5, 5], "row 2: found a duration of -1"),
    ([5, 5, float("nan"), 5, 5], "row 2: duration_s is nan"),
])
def test_bad_replacements(trace, values, message):
    with pytest.raises(muster.Error, match=message):
        trace[:5].replace(duration_s=values)


def test_what_pandas_calls_missing():
    frame = pandas.DataFrame({"submit_s": [0, 1], "duration_s": [60, 60], "gpus": pandas.array([1, 2], dtype="Int64"),
                              "user": pandas.array(["anna", None], dtype="string"), "model": [None, float("nan")]})
    trace = muster.Trace.from_pandas(frame)
    assert list(trace["user"]) == ["anna", ""] and list(trace["model"]) == ["", ""]
    frame["gpus"] = pandas.array([1, None], dtype="Int64")
    with pytest.raises(muster.Error, match="gpus"):
        muster.Trace.from_pandas(frame)


def test_sort():
    trace = muster.Trace.from_numpy(sort=True, submit_s=[5, 0], duration_s=[1, 2], gpus=[1, 2], job_id=["b", "a"])
    assert list(trace["job_id"]) == ["a", "b"]


def test_unknown_generator():
    with pytest.raises(muster.Error, match="did you mean 'poisson'"):
        muster.Trace.generate("poison", jobs=5)


def test_clusters():
    cluster = muster.Cluster.from_nodes([{"count": 2, "gpus": 4, "gpu_type": "v100"}, {"gpus": 8, "gpu_type": "a100"}])
    assert cluster.gpus == 16 and len(cluster) == 3 and cluster.types == ["v100", "a100"]
    trace = muster.Trace.from_numpy(submit_s=[0, 0], duration_s=[10, 10], gpus=[8, 8], gpu_type=["a100", ""])
    result = muster.simulate(trace, cluster)
    assert result["finished"] == 2
    with pytest.raises(muster.Error, match="expected"):
        muster.Cluster("16y8")
    with pytest.raises(muster.Error, match="gpus"):
        muster.Cluster.from_nodes([{"count": 2}])


def test_steps_of_value_come_back():
    trace = muster.Trace.from_numpy(submit_s=[0, 10], duration_s=[60, 60], gpus=[1, 1], deadline_s=[100, np.inf],
                                    value=[10, 1], later=["7200:8;9000.5:5", ""])
    assert list(trace["later"]) == ["7200:8;9000.5:5", ""]
    assert muster.Trace.from_pandas(trace.to_pandas())["later"][0] == "7200:8;9000.5:5"
    assert pickle.loads(pickle.dumps(trace))["later"][0] == "7200:8;9000.5:5"
    # They follow the deadline.
    moved = trace.replace(deadline_s=[200, np.inf])
    assert list(moved["later"]) == ["7300:8;9100.5:5", ""]
    assert list(trace.replace(deadline_s=[np.inf, np.inf])["later"]) == ["", ""]
    assert trace.between(0, 20)["later"][0] == "7200:8;9000.5:5"


@pytest.mark.parametrize("steps", ["5", "a:b", "100:1;90:1", "7200:nan", "50:3", "7200:8;"])
def test_steps_of_value_that_make_no_sense(steps):
    with pytest.raises(muster.Error, match="row 0: later"):
        muster.Trace.from_numpy(submit_s=[0], duration_s=[60], gpus=[1], deadline_s=[100], later=[steps])


def test_steps_of_value_go_through_files(in_tmp):
    trace = muster.Trace.from_numpy(submit_s=[0], duration_s=[60], gpus=[1], deadline_s=[100], later=["200:8;300:5"])
    trace.write("jobs.csv")
    assert list(muster.Trace.read("jobs.csv")["later"]) == ["200:8;300:5"]


BASE = {"submit_s": [0, 1, 2], "duration_s": [60, 600, 60], "gpus": [1, 1, 1]}


def test_columns_cannot_be_written_to(trace):
    for name, column in trace.columns.items():
        with pytest.raises(ValueError):
            column[0] = column[1]
        assert trace[name][0] == trace.to_numpy()[name][0]


def test_replace_by_nothing():
    trace = muster.Trace.from_numpy(**BASE, priority=[1, 2, 3])
    for name in ("priority", "deadline_s"):
        with pytest.raises(muster.Error, match=f"row 0: {name} is nan, expected"):
            trace.replace(**{name: [np.nan] * 3})


def test_between_for_ever(trace):
    assert trace.between(-np.inf, np.inf)["submit_s"].tolist() == trace["submit_s"].tolist()
    with pytest.raises(muster.Error, match="between nan and 5"):
        trace.between(float("nan"), 5)


def test_two_jobs_of_one_name(trace, in_tmp):
    with pytest.raises(muster.Error, match="rows 0 and 2 have the same job_id, 'a'"):
        muster.Trace.from_numpy(**BASE, job_id=["a", "b", "a"])
    with pytest.raises(muster.Error, match="row 1 is chosen twice"):
        trace[[0, 1, 1]]
    # Files are read as they are: histories have jobs that were queued again.
    (in_tmp / "jobs.csv").write_text("job_id,submit_s,duration_s,gpus\na,0,60,1\nb,1,60,1\na,2,60,1\n")
    read = muster.Trace.read("jobs.csv")
    assert any("1 jobs have the job_id of an earlier one, first 'a'" in note for note in read.notes)
    assert len(pickle.loads(pickle.dumps(read))) == 3 and muster.simulate(read, "1x1")["finished"] == 3


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_texts_that_no_file_can_hold(text):
    with pytest.raises(muster.Error, match="row 1: user is .*, expected text without"):
        muster.Trace.from_numpy(**BASE, user=["é", text, "b"])


def test_progress_of_reading_drawing_and_writing(monkeypatch, in_tmp):
    bars = []

    class Bar:
        def __init__(self, total, **_):
            self.total, self.n = total, 0
            bars.append(self)

        def update(self, more):
            self.n += more

        def close(self):
            pass
    tqdm = pytest.importorskip("tqdm.auto")
    monkeypatch.setattr(tqdm, "tqdm", Bar)
    trace = muster.Trace.generate("poisson", jobs=600000, progress=True)
    trace.write("jobs.csv.gz", progress=True)
    muster.Trace.read("jobs.csv.gz", progress=True)
    assert [bar.total for bar in bars] == [600000, 600000, None]
    assert all(0 < bar.n <= 600000 for bar in bars)
