"""simulate, compare, sweep, reproduce: the same as the command, to the last digit."""

import json
import subprocess
import sys
import threading
import time

import pandas
import pytest

import muster


def test_equals_the_command(command, trace, in_tmp):
    trace.write("jobs.csv")
    subprocess.run([command, "simulate", "jobs.csv", "-c", "8x8", "-s", "las", "-p", "scattered", "-q", "-o", "cli"],
                   check=True, stdout=subprocess.DEVNULL)
    theirs = muster.Result.open("cli")
    for jobs in (trace, "jobs.csv", trace.to_pandas()):
        ours = muster.simulate(jobs, "8x8", scheduling="las", placement="scattered")
        pandas.testing.assert_frame_equal(ours.jobs, theirs.jobs)
        pandas.testing.assert_frame_equal(ours.decisions, theirs.decisions)
        assert ours["avg_jct_s"] == theirs["avg_jct_s"]


def test_errors_are_those_of_the_command(command, trace):
    with pytest.raises(muster.Error) as error:
        muster.simulate(trace, "8x8", scheduling="laz")
    told = subprocess.run([command, "simulate", "-g", "poisson:jobs=5", "-c", "8x8", "-s", "laz"], text=True,
                          stderr=subprocess.PIPE).stderr
    assert str(error.value) in told and "did you mean 'las'" in told


@pytest.mark.parametrize("settings, message", [
    ({"schedulng": "las"}, "did you mean 'scheduling'"),
    ({"restart": {"restrat": 5}}, "did you mean 'restart'"),
    ({"scheduling": "las:quantum=-5"}, "quantum"),
    ({"seed": -1}, "seed"),
    ({"pacing": object()}, "pacing is a object, expected"),
    ({"preset": "bloks"}, "did you mean 'blox'"),
    ({"generate": "poisson:jobs=5"}, "choose one"),
    ({"workload": {"limit": 5}}, "workload says how jobs are read or drawn, and these are in memory"),
    ({"time_limit": 0}, "time_limit is 0, but must be above 0"),
    ({"time_limit": float("nan")}, "time_limit is nan"),
])
def test_bad_descriptions(trace, settings, message):
    with pytest.raises(muster.Error, match=message):
        muster.simulate(trace, "8x8", **settings)


def test_no_cluster_no_jobs(trace):
    with pytest.raises(muster.Error, match="no cluster"):
        muster.simulate(trace)
    with pytest.raises(muster.Error, match="no workload"):
        muster.simulate(cluster="8x8")


def test_kept_results(trace, in_tmp):
    result = muster.simulate(trace[::2], "8x8", scheduling="srtf", output="kept", turns=True)
    again = muster.Result.open("kept")
    assert again["avg_jct_s"] == result["avg_jct_s"]
    assert len(again.turns) > 0
    # All that made it is there, the jobs included.
    same = muster.simulate(file="kept/inputs/run.toml", output=False)
    assert same["avg_jct_s"] == result["avg_jct_s"]


def test_figures_only(trace):
    result = muster.simulate(trace, "8x8", output=False)
    assert result["finished"] == len(trace)
    with pytest.raises(muster.Error, match="figures only"):
        result.jobs
    with pytest.raises(KeyError, match="did you mean 'avg_jct_s'"):
        result["avg_jtc_s"]


def test_temporary_folders_go(trace):
    import gc
    import os
    result = muster.simulate(trace, "8x8")
    folder = result.folder
    assert os.path.isdir(folder)
    del result
    gc.collect()
    assert not os.path.exists(os.path.dirname(folder))


def test_tables_plots_and_pages(trace, in_tmp):
    comparison = muster.compare(trace, "8x8", scheduling=["fifo", "las"], placement=["consolidated", "scattered"])
    assert list(comparison) == ["fifo + consolidated", "fifo + scattered", "las + consolidated", "las + scattered"]
    assert comparison.table.loc["las + scattered", "finished"] == len(trace)
    result = comparison["las + consolidated"]
    jobs = result.jobs
    assert (jobs["jct_s"] == jobs["end_s"] - jobs["submit_s"]).all()
    assert set(result.decisions["action"]) >= {"submit", "admit", "start", "finish"}
    waited = int(jobs["queue_s"].idxmax())
    assert "waited" in result.explain(waited).lower() or "behind" in result.explain(waited)
    for plot in (result.plot_jct, result.plot_queueing, result.plot_utilization, result.plot_queue,
                 comparison.plot_jct, comparison.plot_utilization, comparison.plot_bars):
        assert plot().get_ylabel()
    page = comparison.report("page.html")
    assert "<html" in page.html.lower() and "iframe" in page._repr_html_()


def test_names_that_fold_to_one_folder(trace, in_tmp):
    class Fifo:
        def key(self, jobs, now):
            return -jobs.submit

    comparison = muster.compare(trace, "2x8", scheduling=["fifo", Fifo], output="kept")
    assert sorted(path.name for path in (in_tmp / "kept").iterdir()) == ["fifo", "fifo-2"]
    for result in comparison.values():
        assert result.jobs["jct_s"].mean() == pytest.approx(result["avg_jct_s"])


def test_sweep_equals_single_runs(trace):
    table = muster.sweep(trace, "8x8", scheduling=["fifo", "las"], vary={"restart.restart": [0, 60]}, processes=1)
    assert len(table) == 4
    for _, row in table.iterrows():
        one = muster.simulate(trace, "8x8", scheduling=row["scheduling"],
                              restart={"restart": row["restart.restart"]}, output=False)
        assert one["avg_jct_s"] == row["avg_jct_s"]


def test_sweep_takes_arrays(trace):
    import numpy
    table = muster.sweep(trace[:20], "8x8", vary={"restart.restart": numpy.arange(2) * 60}, seeds=numpy.array([3, 4]))
    assert table["restart.restart"].tolist() == [0, 0, 60, 60] and table["seed"].tolist() == [3, 4, 3, 4]


def test_sweep_of_a_data_frame(trace):
    table = muster.sweep(trace.to_pandas(), "8x8", scheduling=["fifo", "las"])
    assert table["avg_jct_s"].tolist() == muster.sweep(trace, "8x8", scheduling=["fifo", "las"])["avg_jct_s"].tolist()


def test_sweep_in_threads():
    table = muster.sweep(generate="poisson:jobs=100", cluster="8x8", scheduling=["fifo", "las"], seeds=[3, 4])
    assert sorted(set(table["seed"])) == [3, 4] and len(table) == 4


def test_sweep_of_jobs_in_memory_needs_no_guard(in_tmp):
    """Built-in policies run in threads: nothing is started that would run a script again."""
    (in_tmp / "script.py").write_text("""import muster
trace = muster.Trace.generate("poisson", jobs=50)
print(len(muster.sweep(trace, "4x8", scheduling=["fifo", "las"], seeds=2, processes=2)))
""")
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True)
    assert done.stdout == "4\n", done.stderr


@pytest.mark.parametrize("settings, message", [
    ({"scheduling": []}, "scheduling is an empty list"),
    ({"scheduling": "fifo", "seeds": 0}, "seeds is an empty list"),
    ({"scheduling": ["fifo"], "vary": {"restart.restrat": [0]}, "processes": 1}, "did you mean 'restart'"),
    ({"scheduling": [lambda jobs, now: jobs.submit, "fifo"], "processes": 2}, "cannot be sent to other processes"),
    ({"scheduling": ["fifo"], "output": "out"}, "output is where a sweep continues"),
    ({"vary": {"restart.restart": 5}}, "restart.restart is 5: expected a list of values"),
    ({"vary": {"restart.restart": "60"}}, "restart.restart is '60': expected a list of values"),
    ({"vary": {"load": [0.5, 1]}}, "workload says how jobs are read or drawn"),
    ({"seeds": "12"}, "seeds is '12': expected a list"),
    ({"seeds": [1.5]}, "a seed is 1.5"),
    ({"processes": -2}, "processes is -2"),
    ({"threads": 1.5}, "threads is 1.5"),
])
def test_bad_sweeps(trace, settings, message):
    with pytest.raises(muster.Error, match=message):
        muster.sweep(trace[:5], "8x8", **settings)


def test_explain_by_number_or_name():
    """Numbers of pandas are numbers."""
    import numpy
    jobs = muster.Trace.from_numpy(submit_s=[0, 1, 2], duration_s=[60, 600, 60], gpus=[1, 1, 1], job_id=["2", "1", "0"])
    result = muster.simulate(jobs, "1x1")
    assert result.explain(numpy.int64(2)) == result.explain(2) != result.explain("2") == result.explain(0)
    assert result.explain(result.jobs["queue_s"].idxmax()) == result.explain(2)
    with pytest.raises(muster.Error, match="job is True"):
        result.explain(True)


def test_one_unit_for_all_curves():
    jobs = muster.Trace.from_numpy(submit_s=[0] * 10, duration_s=[36000] * 10, gpus=[1] * 10)
    for clusters in (["1x1", "1x2"], ["1x2", "1x1"]):
        axes = muster.compare(jobs, clusters, scheduling="fifo").plot_utilization()
        longest = {line.get_label(): line.get_xdata().max() for line in axes.get_lines()}
        assert axes.get_xlabel() == "time (days)" and 1.5 < longest["1x1"] / longest["1x2"] < 2.5


def test_unknown_names(trace):
    comparison = muster.compare(trace[:5], "8x8", scheduling=["fifo", "las"])
    with pytest.raises(KeyError, match="did you mean 'las'"):
        comparison["laz"]
    with pytest.raises(muster.Error, match="did you mean 'scheduling'"):
        muster.policies("schedulng")
    with pytest.raises(muster.Error, match="scheduling is an empty list"):
        muster.compare(trace, "8x8", scheduling=[])
    with pytest.raises(muster.Error, match="threads is -1"):
        muster.compare(trace, "8x8", scheduling=["fifo", "las"], threads=-1)


def test_reproduce_lists():
    assert "venus" in str(muster.reproduce()) or muster.reproduce()["blox"]
    with pytest.raises(muster.Error):
        muster.reproduce("bloks", "nothing")


def test_many_runs_at_once(trace):
    """The interpreter is free while runs go on, and runs share nothing."""
    results = [None] * 4

    def work(i):
        results[i] = muster.simulate(trace, "8x8", scheduling="las", output=False)["avg_jct_s"]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1 and results[0] is not None


def watch_bars(monkeypatch):
    """The bars of tqdm that are made from here on."""
    import tqdm.auto
    bars = []

    class Bar:
        def __init__(self, total, **_):
            self.total, self.n, self.closed = total, 0, False
            bars.append(self)

        def update(self, more):
            assert more >= 0
            self.n += more

        def close(self):
            self.closed = True
    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    return bars


def test_progress(monkeypatch):
    """A bar that moves to the end, and none where none is wanted."""
    bars = watch_bars(monkeypatch)
    trace = muster.Trace.generate("philly-like", jobs=20000, load=1.2, cluster="8x8")
    muster.simulate(trace, "8x8", scheduling="las", output=False, progress=True)
    bar, = bars
    assert bar.total == len(trace) and 0 < bar.n <= bar.total and bar.closed
    muster.simulate(trace, "8x8", output=False, progress=False)
    assert len(bars) == 1


def least_service(jobs, now):
    return jobs.gpu_seconds


@pytest.mark.parametrize("settings, total", [
    ({"generate": "poisson:jobs=20000,load=1.5", "scheduling": ["las", "srtf"], "threads": 1}, 6),
    ({"trace": 10000, "scheduling": ["las", "srtf"]}, 6 * 10000),
    ({"trace": 300, "scheduling": [least_service, "srtf"], "processes": 1}, 6),
    ({"trace": 300, "scheduling": [least_service, "srtf"], "processes": 2}, 6),
])
def test_progress_of_sweeps(monkeypatch, settings, total):
    bars = watch_bars(monkeypatch)
    if "trace" in settings:
        settings = {**settings, "trace": muster.Trace.generate("philly-like", jobs=settings["trace"], load=1.5, cluster="8x8")}
    assert len(muster.sweep(cluster="8x8", seeds=3, progress=True, **settings)) == 6
    bar, = bars
    assert bar.total == total and 0 < bar.n <= total and bar.closed


def test_description_is_complete():
    text = muster.describe(generate="poisson:jobs=100", cluster="16x8", scheduling={"name": "las", "quantum": 60})
    assert "quantum = 60" in text and "[scheduling]" in text or "las" in text


def test_summary_is_json(trace):
    result = muster.simulate(trace, "8x8")
    with open(f"{result.folder}/summary.json") as file:
        assert json.load(file)["avg_jct_s"] == result["avg_jct_s"]


def test_other_threads_go_on_meanwhile():
    """A run holds no lock of the interpreter: a thread of Python gets as far as it would alone, or nearly."""
    trace = muster.Trace.generate("philly-like", jobs=20000, load=1.2, cluster="8x8")
    counted = []

    def count():
        while not over.is_set():
            counted.append(time.monotonic())
            time.sleep(0.001)
    over = threading.Event()
    other = threading.Thread(target=count)
    other.start()
    began = time.monotonic()
    muster.simulate(trace, "8x8", scheduling="las", output=False, progress=False)
    took = time.monotonic() - began
    over.set()
    other.join()
    during = [at for at in counted if began <= at <= began + took]
    gaps = [b - a for a, b in zip(during, during[1:])]
    assert took > 0.05 and len(during) > 10 and max(gaps) < took / 2
