"""The jobs of a live run in the simulator: with speeds, start and stop costs as they were measured before the run."""

import csv
import json
import pathlib
import tempfile

KEY = "('{}', 1)".format


def alone(table, model):
    return table["h200"][KEY(model)]["null"]


def first_start(costs):
    """What a first start costs at least; the simulator has one number for all models."""
    return min(cost["start"] for cost in costs.values())


def description(scenario, costs):
    finish = sum(cost["finish"] for cost in costs.values()) / len(costs)
    lines = ['cluster = "1x1:h200"', f'scheduling = "{scenario["scheduling"]}"', 'pacing = "events"',
             'perf = ["throughputs:file=speeds.json,reference=h200"]', "[workload]", 'trace = "jobs.csv"',
             "[restart]", f"first_start = {first_start(costs)}"]
    for model, cost in costs.items():
        lines += ["[[restart.table]]", f'model = "{model}"', "gpus = 0", f'seconds = {cost["restart"]}']
    # What a job takes to save its work and leave.
    lines += ["[life]", f"stop_latency = {finish}", "spread = 0"]
    return "\n".join(lines) + "\n"


def trace(jobs, table, costs):
    """A job holds its GPU until its last checkpoint is saved and its process has ended. What the first start of its model
    costs beyond the common part is work, too."""
    rows = ["job_id,submit_s,duration_s,gpus,iterations,model,estimate_s"]
    for job in jobs:
        cost = costs[job["model"]]
        seconds = job["steps"] / alone(table, job["model"]) + cost["finish"] + cost["start"] - first_start(costs)
        rows.append(f"{job['name']},{job['submit']},{seconds},1,{job['steps']},{job['model']},{seconds}")
    return "\n".join(rows) + "\n"


def predict(run, scenario, table, costs):
    """By job: (start, end) in seconds after the first submission, and preemptions. `run` calls the command."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "speeds.json").write_text(json.dumps(table))
        (folder / "jobs.csv").write_text(trace(scenario["jobs"], table, costs))
        (folder / "run.toml").write_text(description(scenario, costs))
        run("simulate", "--config", folder / "run.toml", "-o", folder / "out", "-q")
        with open(folder / "out" / "jobs.csv") as file:
            return {row["name"]: (float(row["start_s"]), float(row["end_s"]), int(row["preemptions"]))
                    for row in csv.DictReader(file)}


def figures(times):
    """Mean completion time and makespan of (submission, end)."""
    return (sum(end - submit for submit, end in times) / len(times),
            max(end for _, end in times) - min(submit for submit, _ in times))


def show(name, scenario, said):
    """A table by job, then the two figures; returns how far they are apart."""
    begin = scenario["jobs"][0]["submitted"]
    print(f"\n{name} ({scenario['scheduling']}, {scenario['mode']})")
    print(f"{'job':<20}{'submit':>8}{'start':>8}{'end':>8}{'simulated':>16}{'launches':>10}{'preempted':>11}")
    for job in scenario["jobs"]:
        start, end, preemptions = said[job["name"]]
        print(f"{job['name']:<20}{job['submit']:>8.1f}{job['started'] - begin:>8.1f}{job['ended'] - begin:>8.1f}"
              f"{start:>8.1f}{end:>8.1f}{len(job['runs']):>10}{job['preemptions']:>8}/{preemptions}")
    real = figures([(job["submitted"], job["ended"]) for job in scenario["jobs"]])
    simulated = figures([(job["submit"], said[job["name"]][1]) for job in scenario["jobs"]])
    off = []
    for label, measured, predicted in zip(("mean completion time", "makespan"), real, simulated):
        off.append(predicted / measured - 1)
        print(f"{label:<22} measured {measured:7.2f} s  predicted {predicted:7.2f} s  {100 * off[-1]:+.1f} %")
    return off
