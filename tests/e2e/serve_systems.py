"""Published systems, live: each runs a trace to its end and does what it is known for."""

import subprocess
import tempfile
import unittest

from live_daemon import MUSTER, Daemon, wait_until


SYSTEMS = {
    "blox": ["--preset", "blox", "--scheduling", "las", "--pacing", "rounds:length=0.5"],
    "gavel": ["--preset", "gavel", "--scheduling", "gavel-max-min-fairness", "--pacing", "rounds:length=0.5"],
    "lucid": ["--preset", "lucid", "--set", "partitions.apart=false", "--set", "profiling.nodes=0", "--pacing",
              "ticks:length=0.5"],
    "muri": ["--preset", "muri", "--pacing", "ticks:length=0.5"],
    "elasticflow": ["--preset", "elasticflow", "--scheduling", "elasticflow", "--admission", "deadline", "--pacing",
                    "slots:length=0.5"],
    "tiresias": ["--preset", "tiresias", "--pacing", "ticks:length=0.5"],
}


class Systems(unittest.TestCase):
    def run_trace(self, options):
        with Daemon(*options, gpus=4) as daemon:
            trace = daemon.base / "trace.csv"
            rows = ["job_id,submit_s,duration_s,gpus"]
            rows += [f"t{i},{i * 5},{10 + 7 * (i % 4)},{(1, 2, 1, 4)[i % 4]}" for i in range(8)]
            trace.write_text("\n".join(rows) + "\n")
            numbers = daemon.run("drive", str(trace), "--speed", "20", "--step", "0.05").stdout.split()
            self.assertEqual(len(numbers), 8)
            daemon.run("wait", *numbers, "--timeout", "100")
            self.assertFalse(daemon.log().count("decided any more"))
            return daemon.jobs()

    def runs_trainers_to_their_end(self, name):
        for job in self.run_trace(SYSTEMS[name]):
            self.assertEqual(job["state"], "finished", (name, job))
            self.assertEqual(job["progress"]["step"], job["progress"]["total"], (name, job))

    def test_blox(self):
        self.runs_trainers_to_their_end("blox")

    def test_gavel(self):
        self.runs_trainers_to_their_end("gavel")

    def test_lucid(self):
        self.runs_trainers_to_their_end("lucid")

    def test_muri(self):
        self.runs_trainers_to_their_end("muri")

    def test_elasticflow(self):
        self.runs_trainers_to_their_end("elasticflow")

    def test_tiresias(self):
        self.runs_trainers_to_their_end("tiresias")

    def test_muri_interleaves_jobs_whose_stages_differ(self):
        """One loads while the other computes: together on the GPU they do more than one after the other."""
        with Daemon("--preset", "muri", "--pacing", "ticks:length=1", gpus=1) as daemon:
            self.assertIn("'muri' goes by stage times: submit with --stage-ms", daemon.log())

            loads = daemon.submit_trainer("loads", 80, "--stage-ms", "storage=40,cpu=50,gpu=10")
            computes = daemon.submit_trainer("computes", 80, "--stage-ms", "cpu=10,gpu=80,network=10", "--step-ms", "100")
            wait_until(lambda: sorted(daemon.gpu_jobs()[0]) == [loads, computes], what="both on the GPU")
            unknown = daemon.submit_trainer("unknown", 40)
            daemon.run("wait", "--timeout", "60")
            told = {number: daemon.job(number) for number in (loads, computes, unknown)}
            self.assertEqual({job["state"] for job in told.values()}, {"finished"})
            overlap = min(told[loads]["ended"], told[computes]["ended"]) - max(told[loads]["started"], told[computes]["started"])
            self.assertGreater(overlap, 1)
            self.assertTrue(any(run["shared"] for run in told[loads]["runs"] + told[computes]["runs"]), told)
            # Of whom nobody knows the stages, nobody knows whom it could be interleaved with.
            for run in told[unknown]["runs"]:
                for other in told[loads]["runs"] + told[computes]["runs"]:
                    self.assertFalse(run["started"] and other["started"] and
                                     min(run["ended"], other["ended"]) - max(run["started"], other["started"]) > 0.01, (run, other))
            for wrong, word in (("gpu", "as in storage=5"), ("gqu=4", "did you mean 'gpu'"), ("gpu=0", "above 0")):
                refused = daemon.run("submit", "--stage-ms", wrong, "--", "/bin/true", check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(word, refused.stderr)

    def test_a_running_job_moves_to_other_gpus(self):
        """A third job comes, and two that go well together make room for it: one of them moves, with its work."""
        with Daemon("--preset", "muri", "--pacing", "ticks:length=1", gpus=2) as daemon:
            def submit(name, steps, stages):
                return daemon.submit_trainer(name, steps, "--stage-ms", stages)

            pair = [submit("sends", 150, "storage=40,gpu=10,network=50"), submit("computes", 150, "cpu=50,gpu=50")]
            for number in pair:
                daemon.until_launched(number)
                wait_until(lambda: (daemon.job(number)["progress"] or {}).get("step", 0) > 0, what="steps")
            third = submit("third", 30, "gpu=10,network=90")
            daemon.run("wait", "--timeout", "90")
            told = [daemon.job(number) for number in (*pair, third)]
            self.assertEqual({(job["state"], job["preemptions"]) for job in told}, {("finished", 0)}, told)
            moved = [job for job in told if len({str(run["placement"]) for run in job["runs"] if run["started"]}) > 1]
            self.assertTrue(moved, told)
            for job in moved:
                story = daemon.told("explain", job["id"])
                self.assertTrue(any(one["text"].startswith("move: ") for one in story["decisions"]), story)
                # It goes on with the step after the last one it saved, and does each once.
                saved = [run["saved_step"] for run in job["runs"][:-1]]
                begun = [line.split()[4] for line in daemon.run("logs", str(job["id"])).stdout.split("\n") if "from step" in line]
                self.assertEqual(list(map(int, begun)), [0, *map(int, saved)], job)
                self.assertEqual(job["progress"]["step"], 150 if job["id"] in pair else 30)

    def test_antman_lets_opportunistic_jobs_use_what_others_leave_idle(self):
        with Daemon("--scheduling", "antman", "--placement", "antman", gpus=1) as daemon:
            self.assertIn("submit with --priority below 0", daemon.log())
            guaranteed = daemon.submit_trainer("guaranteed", 120)
            daemon.until_launched(guaranteed)
            waits = daemon.submit_trainer("waits", 5)
            beside = daemon.submit_trainer("beside", 50, "--priority", "-1")
            wait_until(lambda: sorted(daemon.gpu_jobs()[0]) == [guaranteed, beside], what="both on the GPU")
            daemon.run("wait", "--timeout", "60")
            told = {number: daemon.job(number) for number in (guaranteed, waits, beside)}
            self.assertEqual({(job["state"], job["launches"]) for job in told.values()}, {("finished", 1)}, told)
            self.assertLess(told[beside]["started"], told[guaranteed]["ended"])
            self.assertGreaterEqual(told[waits]["started"], told[guaranteed]["ended"] - 0.1)  # a guaranteed job shares with none

    def test_lucid_profiles_jobs_before_they_queue(self):
        """GPU 1 is the profiler's. What trainers say of their use of the GPU decides who shares GPU 0 afterwards."""
        lucid = ["--preset", "lucid", "--set", "partitions.apart=false", "--set", "profiling.within=true",
                 "--set", "profiling.nodes=1", "--set", "profiling.gpus_per_node=1", "--set", "profiling.limit=2.5",
                 "--pacing", "ticks:length=0.2"]
        with Daemon(*lucid, gpus=2) as daemon:
            self.assertIn("the profiler has the last 1 GPUs", daemon.log())

            def submit(name, steps, use):
                return daemon.submit_trainer(name, steps, "--estimate", "30",
                                             report=(f"gpu_util={use}", "gmem_util=5", "gmem=2000"))

            noticeable = submit("noticeable", 200, 60)
            heavy = submit("heavy", 60, 95)
            light = submit("light", 80, 20)
            short = submit("short", 5, 20)
            # In the midst of it the daemon dies, and the next one goes on.
            wait_until(lambda: daemon.job(noticeable)["progress"], what="progress in the profiler")
            daemon.kill()
            daemon.start()
            daemon.run("wait", *map(str, (noticeable, heavy, light, short)), "--timeout", "90")
            told = {name: daemon.job(number) for name, number in
                    (("noticeable", noticeable), ("heavy", heavy), ("light", light), ("short", short))}
            for name, job in told.items():
                self.assertEqual((job["state"], job["progress"]["step"]), ("finished", job["progress"]["total"]), job)
                self.assertEqual(job["runs"][0]["placement"], [{"node": "node0", "gpus": [1]}], name)
                self.assertFalse(job["runs"][0]["shared"], name)
            self.assertEqual(len(told["short"]["runs"]), 1, "it ended in the profiler")
            for name in ("noticeable", "heavy", "light"):
                first, second = told[name]["runs"]
                self.assertEqual(second["placement"], [{"node": "node0", "gpus": [0]}], name)
                # A tenth of a second is a step: it was stopped when the profiler had seen enough of it.
                self.assertGreater(first["ended"] - first["started"], 2.4, (name, first))
                self.assertEqual(first["outcome"], "stopped", (name, first))
                self.assertTrue(0 < first["saved_step"] < told[name]["progress"]["total"], (name, first))
            # The light one goes beside the noticeable one; the heavy one waits until a GPU is free.
            self.assertTrue(told["light"]["runs"][1]["shared"])
            self.assertLess(told["light"]["runs"][1]["started"], told["noticeable"]["ended"])
            self.assertGreaterEqual(told["heavy"]["runs"][1]["started"], told["noticeable"]["ended"] - 0.1)

    def test_elasticflow_declines_what_cannot_be_in_time(self):
        with Daemon(*SYSTEMS["elasticflow"], gpus=1) as daemon:
            fine = daemon.submit("--estimate", "1", "--deadline", "60", "--", "/bin/sleep", "0.5")
            late = daemon.submit("--estimate", "100", "--deadline", "10", "--", "/bin/true")
            refused = daemon.until(late, "refused")
            self.assertIn("deadline", refused["reason"])
            self.assertEqual(refused["launches"], 0)
            daemon.run("wait", str(fine), "--timeout", "30")
            self.assertIn("deadline", daemon.run("explain", str(late)).stdout)

    def test_what_a_preset_cannot_do_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            lucid = ("lucid", "--set", "partitions.apart=false", "--set", "profiling.lender=", "--set", "profiling.free=false",
                     "--pacing", "ticks:length=0.5")
            within = (*lucid, "--set", "profiling.within=true")
            refused = ((("gavel",), "pacing"), (("lucid",), "partitions"), (("helios",), "partitions"), (("muri",), "pacing"),
                       (("elasticflow",), "the pacing 'gathered' repeats a simulator"),
                       (("elasticflow", "--pacing", "slots:length=60"), "choose the general one: --scheduling elasticflow"),
                       (lucid, "in advance"), ((*lucid, "--set", "profiling.online=true"), "nodes of its own"),
                       (within, "all GPUs would be the profiler's"),
                       ((*within, "--set", "profiling.gpus_per_node=1", "--scheduling", "srtf"), "does not preempt"))
            for words, reason in refused:
                done = subprocess.run([MUSTER, "serve", "--state", folder, "--fake-gpus", "4", "--preset", *words],
                                      capture_output=True, text=True, timeout=30)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(reason, done.stderr)
