"""Traces as workloads of a daemon, and the live demo."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from live_daemon import MUSTER, ROOT, Daemon
from serve_systems import SYSTEMS


class Driven(unittest.TestCase):
    """A trace as a workload: what it says of a job reaches the daemon, and what is refused is told."""

    def drive(self, options, trace, *words, gpus=4):
        """What the command said, the jobs, and the daemon's log, once all have left."""
        with Daemon(*options, gpus=gpus) as daemon:
            file = daemon.work / "trace.csv"
            if isinstance(trace, str):
                file.write_text(trace)
            done = daemon.run("drive", str(file if isinstance(trace, str) else trace), *words, check=False)
            daemon.run("wait", "--timeout", "100", check=False)
            return done, [daemon.job(job["id"]) for job in daemon.jobs()]

    def test_who_is_refused_is_named(self):
        trace = ("job_id,submit_s,duration_s,gpus\nfits,0,10,1\nlarge,1,10,5\n")
        done, jobs = self.drive([], trace, "--speed", "100", "--step", "0.05")
        self.assertEqual((done.returncode, done.stdout.split()), (1, ["1", "2"]))
        self.assertIn("job 2 (large) was refused: ", done.stderr)
        self.assertIn("1 of 2 jobs were refused", done.stderr)
        self.assertEqual([job["state"] for job in jobs], ["finished", "refused"])

    def test_partitions_that_are_not_there_are_left_out_with_a_word(self):
        trace = "job_id,submit_s,duration_s,gpus,partition\na,0,10,1,vc1\nb,1,10,1,vc1\nc,1,10,1,\n"
        done, jobs = self.drive([], trace, "--speed", "100", "--step", "0.05")
        self.assertEqual((done.returncode, {job["state"] for job in jobs}), (0, {"finished"}), done.stderr)
        self.assertIn("no partition 'vc1': 2 jobs that ask for it may go anywhere", done.stderr)

    def test_fast_forward(self):
        trace = "job_id,submit_s,duration_s,gpus\na,0,100,1\n"
        done, [job] = self.drive([], trace, "--speed", "50", "--step", "0.0001", "--fast-forward", "5")
        self.assertEqual((done.returncode, job["state"]), (0, "finished"))
        self.assertEqual(job["command"][-2:], ["--fast-forward", "5"])
        self.assertEqual((job["progress"]["step"], job["progress"]["total"]), (20000, 20000))
        self.assertTrue(1.9 < job["ended"] - job["started"] < 10, job)

    def test_elasticflow_with_tables(self):
        """Without the model, batch size and iterations of the trace every job would be refused."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "net.csv").write_text("global_batch_size,1,2,4\n64,10,18,30\n")
            trace = ("job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
                     "tight,0,1000,net,70,64,1,100\nloose,1,1000,net,1000,64,1,100\nlate,2,1000,net,12,64,1,100\n")
            done, jobs = self.drive([*SYSTEMS["elasticflow"], "--perf", f"throughput-tables:folder={folder}"], trace,
                                    "--speed", "10", "--step", "0.05")
            self.assertEqual({job["name"]: job["state"] for job in jobs},
                             {"tight": "finished", "loose": "finished", "late": "refused"}, done.stderr)
            self.assertEqual(done.returncode, 1)
            # Which of its two reasons depends on the time that is left when it comes.
            self.assertRegex(done.stderr, r"\(late\) was refused: its deadline (cannot be met|lies less than a turn)")
            # In time only with more than the one GPU that it asks for, as the table knows.
            self.assertGreater(max(sum(len(node["gpus"]) for node in run["placement"]) for run in jobs[0]["runs"]), 1)

    def shared(self, *names):
        folder = pathlib.Path(os.environ.get("MUSTER_SHARED", ROOT.parent / "shared")) / "data"
        files = [folder / name for name in names]
        for file in files:
            if not file.exists():
                self.skipTest(f"needs {file}")
        return files

    def all_finish(self, driven):
        done, jobs = driven
        self.assertEqual((done.returncode, done.stderr, {job["state"] for job in jobs}), (0, "", {"finished"}))
        return jobs

    def test_gavel_published(self):
        trace, table = self.shared("gavel/physical_cluster/artifact_evaluation.trace", "gavel/simulation_throughputs.json")
        gavel = ["--preset", "gavel", "--scheduling", "gavel-max-min-fairness-perf", "--pacing", "rounds:length=0.5"]
        self.all_finish(self.drive([*gavel, "--perf", f"throughputs:file={table}"], trace, "--speed", "5000", "--jobs", "6",
                                   "--step", "0.05", gpus=8))

    def test_elasticflow_published(self):
        trace, tables = self.shared("elasticflow/resnet_cifar_trace.csv", "elasticflow/throughputs_A100")
        self.all_finish(self.drive([*SYSTEMS["elasticflow"], "--perf", f"throughput-tables:folder={tables}"], trace, "--speed",
                                   "500", "--jobs", "2", "--step", "0.05", gpus=8))

    def test_muri_published(self):
        [trace] = self.shared("muri/cluster_trace.csv")
        jobs = self.all_finish(self.drive(["--preset", "muri", "--pacing", "ticks:length=0.5"], trace, "--speed", "1000", "--jobs",
                                          "2", "--step", "0.05", gpus=8))
        self.assertTrue(any(run["shared"] for job in jobs for run in job["runs"]))


class Demo(unittest.TestCase):
    def test_preemptions_resizes_and_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            # Of its own seed the simulator preempts seven times. Real processes do not always do what it does twice.
            done = subprocess.run([MUSTER, "demo", "--live", "-o", folder], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            figures = {line[:22].strip(): line[22:].split() for line in done.stdout.splitlines()[-12:]}
            self.assertGreater(int(figures["preemptions"][0]), 0, done.stdout)
            self.assertGreater(int(figures["resizes"][0]), 0, done.stdout)
            self.assertIn("killed", done.stdout)
            page = (pathlib.Path(folder) / "live.html").read_text()
            for word in ("real run", "simulator", "train20"):
                self.assertIn(word, page)
