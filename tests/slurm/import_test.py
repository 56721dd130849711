"""What a real Slurm says of its jobs and nodes becomes a trace and a cluster file, and nothing is lost.

The jobs are read by Muster from sacct's table and by this test from sacct's JSON, and must be the same.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest

from lab import Lab, wait_until, why_not

MUSTER = os.environ["MUSTER"]
COLUMNS = "JobID,User,Partition,Submit,Start,End,ElapsedRaw,State,ReqTRES,AllocTRES,Timelimit"
NAMES = ["plain", "new\nline", "a|b||c", "'quotes' \"and\" `such`", "$(rm -rf /); echo ${HOME} & > x", "comma, semi; \\ tab\t"]
OPEN = ("PENDING", "RUNNING", "REQUEUED", "SUSPENDED")


def muster(*words, check=True, **more):
    done = subprocess.run([MUSTER, *[str(word) for word in words]], capture_output=True, text=True, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"muster {words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def gpus_of(tres):
    return next((row["count"] for row in tres if (row["type"], row["name"]) == ("gres", "gpu")), 0)


def expected_jobs(records):
    """By name: GPUs, first submission, last run time; from the records of `sacct --json`."""
    runs = {}
    for record in sorted(records, key=lambda record: record["time"]["submission"]):
        array, het = record["array"], record["het"]
        if array["job_id"] and array["task_id"] is None:
            continue  # tasks that wait
        if array["job_id"]:
            name = part = f"{array['job_id']}_{array['task_id']}"
        else:
            name, part = str(het["job_id"] or record["job_id"]), record["job_id"]
        first = runs.setdefault(name, {}).get(part, record)
        runs[name][part] = dict(record, first=first.get("first", first["time"]["submission"]))
    jobs = {}
    for name, parts in runs.items():
        parts = list(parts.values())
        gpus = sum(gpus_of(part["tres"]["requested"]) for part in parts)
        elapsed = max(part["time"]["elapsed"] for part in parts)
        if gpus and elapsed and not any(part["state"]["current"] in OPEN for part in parts):
            jobs[name] = (gpus, min(part["first"] for part in parts), elapsed)
    return jobs


class Import(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.lab = cls.enterClassContext(Lab(nodes="2:v100:4:16 2:a100:8:32 1:cpu:0:8", accounting=True, shards=2))
        cls.submit_all()

    @classmethod
    def submit(cls, *words):
        return cls.lab.call("sbatch", "--parsable", "-o", "/dev/null", *words, cwd=cls.folder).strip()

    @classmethod
    def submit_all(cls):
        submit, lab = cls.submit, cls.lab
        lab.until(submit("--gres=gpu:1", "--wrap", "true"), "RUNNING", "COMPLETED")
        for name in NAMES:
            submit("-J", name, "--gres=gpu:1", "--wrap", "sleep 1")
        submit("--array=0-6:2%2", "--gres=gpu:v100:1", "-t", "10", "--wrap", "sleep 1")
        submit("--gres=gpu:2", "-t", "5", ":", "--gres=gpu:a100:1", "--wrap", "srun sleep 1; sleep 1")
        submit("--gpus=3", "-N", "1", "--wrap", "srun -n1 --gpus=1 sleep 1; srun -n1 --gpus=2 sleep 1")  # steps
        submit("--gpus-per-node=a100:1", "-N", "2", "-t", "UNLIMITED", "--wrap", "sleep 1")
        submit("--gpus-per-task=1", "-n", "2", "-t", "1-0", "--wrap", "sleep 1")
        submit("--gres=gpu:a100:2", "-p", "a100,v100", "--mem=1G", "--wrap", "sleep 1")
        submit("--gres=gpu:1", "--wrap", "exit 3")
        submit("-n", "2", "--wrap", "sleep 1")  # no GPUs
        submit("--gres=shard:1", "--wrap", "sleep 1")
        cls.again = submit("--gres=gpu:1", "--requeue", "-J", "again", "--wrap", "sleep $((1 + 2 * ${SLURM_RESTART_COUNT:-0}))0")
        cls.killed = submit("--gres=gpu:1", "--wrap", "sleep 1000")
        cls.waiting = submit("--gres=gpu:4", "-N", "2", "-p", "v100", "-t", "7", "--begin=now+1hour", "--wrap", "true")
        cls.never = submit("--gres=gpu:1", "--begin=now+1hour", "--wrap", "true")
        submit("--array=1-9%3", "--gres=gpu:8", "-N", "3", "-t", "1", "-p", "a100", "-J", "impossible", "--wrap", "true")
        lab.until(cls.again, "RUNNING")
        lab.until(cls.killed, "RUNNING")
        time.sleep(1.2)
        lab.call("scancel", cls.killed)
        lab.call("scancel", cls.never)
        lab.call("scontrol", "requeue", cls.again)
        lab.until(cls.again, "PENDING")
        time.sleep(1.2)  # in the same second its node would refuse it
        lab.call("scontrol", "update", f"jobid={cls.again}", "starttime=now")
        lab.until(cls.again, "RUNNING")
        time.sleep(2.2)
        lab.call("scancel", cls.again)
        wait_until(lambda: set(lab.call("squeue", "-h", "-o", "%A").split()) <= cls.pending(), 60, "the jobs' end", 0.3)
        # What slurmctld knows reaches the database a little later.
        wait_until(lambda: not any(record["state"]["current"] in ("RUNNING", "COMPLETING") for record in cls.records()),
                   30, "the end in the accounting", 0.3)

    @classmethod
    def pending(cls):
        return set(cls.lab.call("squeue", "-h", "-t", "PD", "-o", "%A").split())

    @classmethod
    def records(cls):
        return json.loads(cls.lab.call("sacct", "--json", "-S", "00:00"))["jobs"]

    def table(self, columns=COLUMNS, *more):
        path = self.folder / "sacct.txt"
        path.write_text(self.lab.call("sacct", "--allusers", "--parsable2", "--duplicates", "-S", "00:00", *more, f"--format={columns}"))
        return path

    def trace(self, table, *options):
        out = self.folder / "trace.csv"
        done = muster("trace", "convert", table, out, "--keep-times", *options)
        with open(out, newline="") as file:
            rows = {row["job_id"]: row for row in csv.DictReader(file)}
        return rows, done.stderr

    def test_jobs_are_those_that_slurm_says(self):
        expected = expected_jobs(self.records())
        self.assertGreater(len(expected), 15)
        for more in (["-X"], []):  # with steps and without
            rows, said = self.trace(self.table(COLUMNS, *more))
            found = {name: (int(row["gpus"]), float(row["submit_s"]), float(row["duration_s"])) for name, row in rows.items()}
            self.assertEqual(found, expected)
            self.assertIn("1 heterogeneous job", said)
            self.assertIn("1 earlier runs of requeued jobs", said)
        again = rows[self.again]
        self.assertLess(float(again["submit_s"]) + float(again["duration_s"]), time.time())
        self.assertEqual(rows[self.killed]["gpus"], "1")

    def test_names_break_nothing(self):
        rows, _ = self.trace(self.table("JobID,JobName," + COLUMNS[6:], "-X"))
        self.assertEqual(set(rows), set(expected_jobs(self.records())))

    def test_what_waits_can_be_kept(self):
        rows, _ = self.trace(self.table(COLUMNS, "-X"), "--set", "unfinished=keep")
        tasks = [name for name in rows if name.split("_")[0] not in expected_jobs(self.records()) and "_" in name
                 and rows[name]["gpus"] == "24"]
        self.assertEqual(len(tasks), 9)
        self.assertTrue(all(rows[name]["duration_s"] == "60" for name in tasks))
        self.assertNotIn(self.never, rows)

    def test_nodes_become_a_cluster_file(self):
        out = self.folder / "cluster.toml"
        for text in (self.lab.call("scontrol", "show", "node"), self.lab.call("scontrol", "-o", "show", "node"),
                     self.lab.call("sinfo", "--json"), self.lab.call("sinfo", "-N", "-o", "%N|%G|%c|%m|%P|%T")):
            done = muster("cluster", "convert", "-", out, input=text)
            self.assertIn("wrote 4 nodes and 24 GPUs (16 a100, 8 v100)", done.stderr)
            self.assertIn("1 nodes without GPUs were left out", done.stderr)
            nodes = tomllib.loads(out.read_text())["nodes"]
            wanted = [("n1", 4, "v100", 16), ("n2", 4, "v100", 16), ("n3", 8, "a100", 32), ("n4", 8, "a100", 32)]
            self.assertEqual([(node["name"], node["gpus"], node["gpu_type"], node["cpus"]) for node in nodes], wanted)
            self.assertTrue(all(node["memory_gb"] == 64 and "partition" not in node for node in nodes))
        muster("cluster", "convert", "-", out, "--partition", "a100", input=self.lab.call("scontrol", "show", "node"))
        nodes = tomllib.loads(out.read_text())["nodes"]
        self.assertEqual([(node["name"], node["partition"]) for node in nodes], [("n3", "a100"), ("n4", "a100")])

    def test_a_simulation_can_be_put_beside_what_happened(self):
        table, cluster = self.table(COLUMNS, "-X"), self.folder / "nodes.txt"
        cluster.write_text(self.lab.call("scontrol", "show", "node"))
        was = json.loads(muster("trace", "info", table, "-c", cluster, "--json").stdout)["as_it_was"]
        done = muster("simulate", table, "-c", cluster, "-s", "fifo:strict=false", "--no-save", "--json", "--quiet")
        simulated = json.loads(done.stdout)
        print(f"as it was {was}, simulated avg_jct_s {simulated['avg_jct_s']}, makespan_s {simulated['makespan_s']}")
        self.assertEqual(was["jobs"], simulated["finished"])
        # A simulation without latencies is no slower than what happened, and no faster than the jobs are.
        self.assertLessEqual(simulated["avg_jct_s"], was["avg_jct_s"] + 1)
        self.assertGreater(simulated["avg_jct_s"], 1)


if __name__ == "__main__":
    if reason := why_not(accounting=True):
        print(reason)
        sys.exit(77)
    unittest.main()
