"""`muster serve` end to end: real daemon, real keepers, real jobs."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import side_by_side
from live_daemon import ALONE, MUSTER, ROOT, TRAINER, Daemon, wait_until


class OneMachine(unittest.TestCase):
    def test_a_job_is_submitted_runs_and_finishes(self):
        with Daemon() as daemon:
            number = daemon.submit("--gpus", "2", "--name", "first", "--", "/bin/sh", "-c",
                                   "echo on $CUDA_VISIBLE_DEVICES of $MUSTER_JOB; pwd")
            daemon.run("wait", str(number), "--timeout", "30")
            job = daemon.job(number)
            self.assertEqual(job["state"], "finished")
            self.assertEqual(job["launches"], 1)
            self.assertEqual(job["gpus"], 2)
            self.assertEqual(job["name"], "first")
            self.assertLessEqual(job["submitted"], job["started"])
            self.assertLessEqual(job["started"], job["ended"])
            listed = daemon.jobs()
            self.assertEqual([number], [one["id"] for one in listed])
            for key in ("id", "name", "state", "gpus", "submitted", "started", "ended", "launches", "reason"):
                self.assertIn(key, listed[0])
            log = daemon.run("logs", str(number)).stdout
            self.assertEqual(log, f"on 0,1 of {number}\n{daemon.work}\n")

    def test_failures_are_told_apart(self):
        with Daemon() as daemon:
            failed = daemon.submit("--", "/bin/sh", "-c", "exit 3")
            again = daemon.submit("--retries", "2", "--", "/bin/sh", "-c", "exit 4")
            missing = daemon.submit("--", "/no/such/program")
            large = daemon.submit("--gpus", "5", "--", "/bin/true")
            strange = daemon.submit("--partition", "nowhere", "--", "/bin/true")
            self.assertNotEqual(daemon.run("wait", str(failed), "--timeout", "30", check=False).returncode, 0)
            job = daemon.until(failed, "failed")
            self.assertEqual((job["exit_code"], job["launches"]), (3, 1))
            self.assertEqual(daemon.until(again, "failed")["launches"], 3)
            self.assertIn("more than", daemon.until(large, "refused")["reason"])
            self.assertIn("nowhere", daemon.until(strange, "refused")["reason"])
            # A start that fails is not the job's failure: it waits for the next try.
            runs = wait_until(lambda: daemon.job(missing)["runs"], what="a try")
            self.assertIn(daemon.job(missing)["state"], ("queued", "running", "preempted"))
            wait_until(lambda: "such/program" in daemon.job(missing)["runs"][0]["detail"], what="the reason")
            self.assertEqual(len(runs), 1)

    def test_a_queue_is_worked_off_and_no_gpu_is_given_twice(self):
        with Daemon(gpus=2) as daemon:
            numbers = [daemon.submit_alone(f"job{i}", 0.3, "--gpus", "1") for i in range(6)]
            worst = 0
            while daemon.run("jobs", "--active", "--json").stdout.strip() != "[]":
                nodes = json.loads(daemon.run("nodes", "--json").stdout)
                worst = max(worst, max(len(gpu) for gpu in nodes[0]["jobs"]))
            self.assertLessEqual(worst, 1)
            for i, number in enumerate(numbers):
                self.assertEqual(daemon.job(number)["state"], "finished")
                self.assertEqual(len((daemon.work / f"job{i}.launches").read_text().split("\n")), 2)

    def test_preempted_and_resumed_with_the_job_client(self):
        with Daemon("--scheduling", "srtf", gpus=1) as daemon:
            long = daemon.submit("--estimate", "1000", "--", TRAINER, "long.step", "60", "100")
            daemon.until_launched(long)
            wait_until(lambda: daemon.job(long)["progress"], what="progress")
            short = daemon.submit("--estimate", "0.2", "--", "/bin/sleep", "0.2")
            daemon.run("wait", str(short), str(long), "--timeout", "60")
            job = daemon.job(long)
            self.assertEqual((job["state"], job["launches"], job["preemptions"]), ("finished", 2, 1))
            self.assertEqual(job["runs"][0]["outcome"], "stopped")
            self.assertEqual(daemon.job(short)["launches"], 1)
            log = daemon.run("logs", str(long)).stdout.split("\n")
            left = [line for line in log if line.startswith("left")][0].split()[1]
            self.assertIn(f"from {left} of 1 ranks", log)
            self.assertIn("done 60", log)

    def test_three_lines_of_python(self):
        script = (
            "import sys, time, os\n"
            f"sys.path.insert(0, {str(ROOT / 'python')!r})\n"
            "import muster_job\n"
            "def load():\n"
            "    return int(open('py.step').read()) if os.path.exists('py.step') else 0\n"
            "job = muster_job.join(save=lambda step: open('py.step', 'w').write(str(step)))\n"
            "for step in job.steps(load(), total=30):\n"
            "    time.sleep(0.1)\n"
            "    job.report(loss=1.0 / (step + 1))\n"
            "print('all done')\n")
        with Daemon("--scheduling", "srtf", gpus=1) as daemon:
            number = daemon.submit("--estimate", "500", "--", sys.executable, "-c", script)
            wait_until(lambda: (daemon.job(number)["progress"] or {}).get("metrics"), what="a metric")
            short = daemon.submit("--estimate", "1", "--", "/bin/true")
            daemon.run("wait", str(short), str(number), "--timeout", "60")
            self.assertEqual(daemon.job(number)["launches"], 2)
            self.assertEqual(daemon.run("logs", str(number)).stdout, "all done\n")

    def test_cancel_hold_release_and_drain(self):
        with Daemon(gpus=1) as daemon:
            running = daemon.submit("--", "/bin/sh", "-c", "sleep 1000 & setsid sleep 1000")
            daemon.until_launched(running)
            waiting = daemon.submit("--", "/bin/sleep", "1000")
            held = daemon.submit("--hold", "--", "/bin/true")
            self.assertTrue(daemon.marked())
            daemon.run("cancel", str(waiting), str(running))
            self.assertEqual(daemon.until(waiting, "cancelled")["launches"], 0)
            daemon.until(running, "cancelled")
            wait_until(lambda: not daemon.marked() and not daemon.keepers(), what="the end of all processes")
            time.sleep(0.3)
            self.assertEqual(daemon.job(held)["launches"], 0)
            daemon.run("drain", "node0")
            daemon.run("release", str(held))
            time.sleep(0.3)
            self.assertEqual(daemon.job(held)["launches"], 0)
            daemon.run("drain", "node0", "--undo")
            daemon.run("wait", str(held), "--timeout", "30")
            self.assertNotEqual(daemon.run("cancel", str(held), check=False).returncode, 0)

    def test_hold_of_a_running_job_stops_it(self):
        with Daemon(gpus=1) as daemon:
            number = daemon.submit("--", "/bin/sleep", "2")
            daemon.until_launched(number)
            daemon.run("hold", str(number))
            wait_until(lambda: not daemon.marked(), what="its stop")
            self.assertIn("hold", daemon.job(number)["reason"])
            other = daemon.submit("--", "/bin/true")
            daemon.run("wait", str(other), "--timeout", "30")
            daemon.run("release", str(number))
            daemon.run("wait", str(number), "--timeout", "30")
            self.assertEqual(daemon.job(number)["launches"], 2)

    def test_time_limits_and_requests_that_are_repeated(self):
        with Daemon() as daemon:
            limited = daemon.submit("--time-limit", "0.5", "--", "/bin/sleep", "1000")
            first = daemon.submit("--request", "abc", "--", "/bin/true")
            self.assertEqual(daemon.submit("--request", "abc", "--", "/bin/true"), first)
            self.assertIn("time limit", daemon.until(limited, "cancelled")["reason"])

    def test_one_process_for_each_gpu(self):
        with Daemon() as daemon:
            number = daemon.submit("--gpus", "3", "--per-gpu", "--", "/bin/sh", "-c",
                                   "echo $RANK/$WORLD_SIZE on $CUDA_VISIBLE_DEVICES")
            daemon.run("wait", str(number), "--timeout", "30")
            for rank in range(3):
                self.assertEqual(daemon.run("logs", str(number), "--rank", str(rank)).stdout,
                                 f"{rank}/3 on {rank}\n")

    def test_logs_can_be_followed(self):
        with Daemon() as daemon:
            number = daemon.submit("--", "/bin/sh", "-c", "for i in 1 2 3; do echo $i; sleep 0.2; done")
            self.assertEqual(daemon.run("logs", "-f", str(number)).stdout, "1\n2\n3\n")

    def test_plain_http_works_too(self):
        if not shutil.which("curl"):
            self.skipTest("needs curl")
        with Daemon() as daemon:
            def curl(*words):
                return subprocess.run(["curl", "-sS", "--unix-socket", str(daemon.state / "api.sock"), *words],
                                      capture_output=True, text=True, check=True).stdout
            answer = json.loads(curl("-X", "POST", "-d", json.dumps({"command": ["/bin/true"]}),
                                     "http://localhost/v1/jobs"))
            daemon.run("wait", str(answer["id"]), "--timeout", "30")
            self.assertEqual(json.loads(curl(f"http://localhost/v1/jobs/{answer['id']}"))["state"], "finished")
            self.assertIn("muster_gpus 4", curl("http://localhost/metrics"))
            self.assertIn("/v1/jobs/{id}/cancel", json.loads(curl("http://localhost/openapi.json"))["paths"])
            self.assertIn("did you mean 'gpus'", curl("-d", '{"command":["x"],"gpu":1}', "http://localhost/v1/jobs"))
            self.assertEqual(curl("-o", "/dev/null", "-w", "%{http_code}", "http://localhost/v1/nothing"), "404")


    def test_a_shadow_decides_and_does_nothing(self):
        with Daemon("--shadow", "--scheduling", "srtf", gpus=1) as daemon:
            long = daemon.submit("--estimate", "3", "--", "/bin/sh", "-c", "touch ran")
            daemon.until_launched(long)
            short = daemon.submit("--estimate", "0.5", "--", "/bin/sh", "-c", "touch ran")
            daemon.run("wait", str(long), str(short), "--timeout", "60")
            self.assertFalse((daemon.work / "ran").exists())
            log = (daemon.base / "daemon.log").read_text()
            self.assertIn(f"would start job {long}, launch 1, on GPUs 0:0", log)
            self.assertIn(f"would stop job {long}, launch 1", log)

    def test_why_and_when(self):
        with Daemon(gpus=1) as daemon:
            first = daemon.submit("--estimate", "100", "--", "/bin/sleep", "1000")
            daemon.until_launched(first)
            daemon.submit("--estimate", "50", "--", "/bin/sleep", "1000")
            third = daemon.submit("--estimate", "50", "--", "/bin/sleep", "1000")
            story = json.loads(daemon.run("explain", "--json", str(third)).stdout)
            self.assertEqual(story["waiting_and_submitted_earlier"], 1)
            self.assertTrue(140 < story["expected_start"] < 151, story)
            self.assertLess(story["expected_start_early"], story["expected_start"])
            self.assertGreater(story["expected_start_late"], story["expected_start"])
            self.assertIn("submit: it was submitted", story["decisions"][0]["text"])
            self.assertIn("expected to start in 2 min", daemon.run("explain", str(third)).stdout)
            for number in (first, third):
                daemon.run("cancel", str(number))

    def test_when_one_that_was_preempted_goes_on(self):
        with Daemon("--scheduling", "srtf", gpus=1) as daemon:
            long = daemon.submit("--estimate", "1000", "--", "/bin/sleep", "1000")
            daemon.until_launched(long)
            short = daemon.submit("--estimate", "100", "--", "/bin/sleep", "1000")
            daemon.until_launched(short)
            story = json.loads(daemon.run("explain", "--json", str(long)).stdout)
            self.assertTrue(80 < story["expected_start"] < 101, story)
            daemon.run("cancel", str(long), str(short))

    def test_what_if(self):
        with Daemon(gpus=2) as daemon:
            first = daemon.submit("--gpus", "2", "--estimate", "100", "--", "/bin/sleep", "1000")
            daemon.until_launched(first)
            second = daemon.submit("--gpus", "2", "--estimate", "50", "--", "/bin/sleep", "1000")

            def asked(*words):
                answer = json.loads(daemon.run("what-if", "--json", *words).stdout)
                times = {}
                for when in ("as_is", "changed"):
                    for job in answer.get(when, {}).get("jobs", []):
                        times[when, job["number"]] = {
                            key: None if value["believed"] is None else value["believed"] - answer["now_s"]
                            for key, value in job.items() if key in ("start_s", "end_s")}
                return answer, times

            answer, times = asked()
            self.assertTrue(90 < times["as_is", second]["start_s"] < 100.1, times)
            band = next(job for job in answer["as_is"]["jobs"] if job["number"] == second)["start_s"]
            self.assertLess(band["early"], band["believed"])
            self.assertGreater(band["late"], band["believed"])
            _, times = asked("--add-nodes", "1x2")
            self.assertTrue(0 <= times["changed", second]["start_s"] < 1, times)
            _, times = asked("--scheduling", "srtf")
            self.assertTrue(0 <= times["changed", second]["start_s"] < 1, times)
            self.assertTrue(140 < times["changed", first]["end_s"] < 151, times)
            _, times = asked("--drain", "node=node0")
            self.assertIsNone(times["changed", second]["start_s"])
            self.assertTrue(90 < times["changed", first]["end_s"] < 100.1, times)
            _, times = asked("--submit", "gpus=1,duration=10")
            self.assertTrue(140 < times["changed", second + 1]["start_s"] < 151, times)
            text = daemon.run("what-if", "--submit", "gpus=1,duration=10", "--job", "new").stdout
            self.assertIn("1 jobs run, 1 wait", text)
            self.assertIn("new", text)
            for wrong, word in (("--scheduling=nobody", "nobody"), ("--scheduling=./policy.py:Mine", "policy"),
                                ("--drain=everything", "expected node=N"), ("--job=nobody", "nobody")):
                refused = daemon.run("what-if", wrong, check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(word, refused.stderr)
            # Nothing of all this has happened.
            self.assertEqual(daemon.job(first)["launches"], 1)
            self.assertEqual(daemon.job(second)["launches"], 0)
            for number in (first, second):
                daemon.run("cancel", str(number))


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


class Clients(unittest.TestCase):
    """Every command that talks to a daemon finds it by --state and by MUSTER_STATE, and answers in JSON if it is told to."""

    # What each prints: one or more lists or objects. Some need something to speak about first.
    COMMANDS = {
        "submit": (["--name", "one", "--", "/bin/sh", "-c", "echo first; printf second"], dict),
        "jobs": ([], list),
        "status": (["1"], dict),
        "wait": (["1"], list),
        "logs": (["1"], dict),
        "hold": (["2"], dict),
        "release": (["2"], dict),
        "cancel": (["2"], dict),
        "nodes": ([], list),
        "drain": (["node0"], dict),
        "top": (["--once"], dict),
        "explain": (["1"], dict),
        "what-if": ([], dict),
        "token create": ([], dict),
        "token list": ([], list),
        "token revoke": (["TOKEN"], dict),
        "drive": (["trace.csv", "--speed", "1000"], dict),
    }

    def clients(self):
        """Those that the command's own reference says take the address of a daemon."""
        found, name = [], None
        for line in subprocess.run([MUSTER, "reference", "commands"], capture_output=True, text=True, check=True).stdout.split("\n"):
            if line.startswith("## muster "):
                name = line.removeprefix("## muster ")
            elif line.startswith("| `--server`"):
                found.append(name)
        return found

    def answers(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text, found = done.stdout, []
        while text.strip():
            value, end = json.JSONDecoder().raw_decode(text)
            found.append(value)
            text = text[end:].lstrip()
        self.assertTrue(found)
        return found

    def test_all_of_them(self):
        self.assertEqual(sorted(self.COMMANDS), sorted(self.clients()))
        for by_variable in (False, True):
            with Daemon(gpus=1) as daemon:
                (daemon.work / "trace.csv").write_text("job_id,submit_s,duration_s,gpus\na,0,50,1\n")
                told = {}
                for command, (words, kind) in self.COMMANDS.items():
                    with self.subTest(command=command, by_variable=by_variable):
                        if command == "hold":
                            daemon.submit("--", "/bin/sleep", "1000")
                        if command == "token revoke":
                            words = [told["token list"][0][0]["name"]]
                        given = [MUSTER, *command.split(), "--json", *([] if by_variable else ["--state", daemon.state]), *words]
                        told[command] = self.answers(subprocess.run(
                            given, capture_output=True, text=True, timeout=60, cwd=daemon.work,
                            env={**os.environ, "MUSTER_STATE": str(daemon.state)} if by_variable else None))
                        self.assertEqual({type(one) for one in told[command]}, {kind}, told[command])
                fields = {"id", "name", "state", "gpus", "submitted", "started", "ended", "launches", "reason"}
                self.assertLessEqual(fields, told["jobs"][0][0].keys())
                [awaited] = told["wait"][0]
                self.assertLessEqual(fields, awaited.keys())
                self.assertEqual((awaited["id"], awaited["state"]), (1, "finished"))
                self.assertEqual(told["logs"], [{"launch": 1, "rank": 0, "line": "first"}, {"launch": 1, "rank": 0, "line": "second"}])

    def test_wait_for_all_lists_whom_it_waited_for(self):
        with Daemon(gpus=1) as daemon:
            before = daemon.submit("--", "/bin/true")
            daemon.run("wait", str(before))
            numbers = [daemon.submit("--", "/bin/sleep", "0.5"), daemon.submit("--", "/bin/false")]
            waited = json.loads(daemon.run("wait", "--json", "--timeout", "30").stdout)
            self.assertEqual([(job["id"], job["state"]) for job in waited], list(zip(numbers, ("finished", "failed"))))
            named = daemon.run("wait", "--json", str(numbers[1]), str(before), check=False)
            self.assertEqual(named.returncode, 1)
            self.assertEqual([job["id"] for job in json.loads(named.stdout)], [numbers[1], before])


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
            self.assertFalse((daemon.base / "daemon.log").read_text().count("decided any more"))
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

    def test_muri_interleaves_jobs_whose_stages_differ(self):
        """One loads while the other computes: together on the GPU they do more than one after the other."""
        with Daemon("--preset", "muri", "--pacing", "ticks:length=1", gpus=1) as daemon:
            self.assertIn("'muri' goes by stage times: submit with --stage-ms", daemon.log())

            def submit(name, *options):
                return daemon.submit("--name", name, *options, "--", MUSTER, "trainer", f"{name}.step", "40", "0.1")

            loads = submit("loads", "--stage-ms", "storage=40,cpu=50,gpu=10")
            computes = submit("computes", "--stage-ms", "cpu=10,gpu=80,network=10", "--step-ms", "100")
            wait_until(lambda: sorted(json.loads(daemon.run("nodes", "--json").stdout)[0]["jobs"][0]) == [loads, computes],
                       what="both on the GPU")
            unknown = submit("unknown")
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

    def test_elasticflow(self):
        self.runs_trainers_to_their_end("elasticflow")

    def test_tiresias(self):
        self.runs_trainers_to_their_end("tiresias")

    def test_lucid_profiles_jobs_before_they_queue(self):
        """GPU 1 is the profiler's. What trainers say of their use of the GPU decides who shares GPU 0 afterwards."""
        lucid = ["--preset", "lucid", "--set", "partitions.apart=false", "--set", "profiling.within=true",
                 "--set", "profiling.nodes=1", "--set", "profiling.gpus_per_node=1", "--set", "profiling.limit=2.5",
                 "--pacing", "ticks:length=0.2"]
        with Daemon(*lucid, gpus=2) as daemon:
            self.assertIn("the profiler has the last 1 GPUs", daemon.log())

            def submit(name, steps, use):
                return daemon.submit("--name", name, "--estimate", "30", "--", MUSTER, "trainer", f"{name}.step", str(steps),
                                     "0.1", "--report", f"gpu_util={use}", "--report", "gmem_util=5", "--report", "gmem=2000")

            noticeable = submit("noticeable", 150, 60)
            heavy = submit("heavy", 40, 95)
            light = submit("light", 60, 20)
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
                self.assertTrue(2.4 < first["ended"] - first["started"] < 10, (name, first))
                self.assertGreater(first["saved_step"], 0, name)
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

    def test_fast_forward_trains_a_few_steps_of_each_launch(self):
        script = (
            "import sys, time, os\n"
            f"sys.path.insert(0, {str(ROOT / 'python')!r})\n"
            "import muster_job\n"
            "def load():\n"
            "    return int(open('ff.step').read()) if os.path.exists('ff.step') else 0\n"
            "job = muster_job.join(save=lambda step: open('ff.step', 'w').write(str(step)))\n"
            "for step in job.steps(load(), total=100, fast_forward=5):\n"
            "    time.sleep(0.05)\n"
            "    print('trained', step, flush=True)\n")
        with Daemon("--scheduling", "srtf", gpus=1) as daemon:
            number = daemon.submit("--estimate", "500", "--", sys.executable, "-c", script)
            wait_until(lambda: (daemon.job(number)["progress"] or {}).get("step", 0) > 20, what="skipped steps")
            short = daemon.submit("--estimate", "0.1", "--", "/bin/true")
            daemon.run("wait", str(short), str(number), "--timeout", "60")
            job = daemon.job(number)
            self.assertEqual((job["launches"], job["progress"]["step"]), (2, 100))
            trained = daemon.run("logs", str(number)).stdout.split("\n")[:-1]
            self.assertEqual(len(trained), 10)
            self.assertEqual(trained[:5], [f"trained {step}" for step in range(5)])
            self.assertGreater(job["ended"] - job["started"], 4)  # the others took their time all the same

    def test_the_policy_is_switched_while_jobs_run(self):
        with Daemon(gpus=1) as daemon:
            description = daemon.base / "muster.toml"
            description.write_text('scheduling = "fifo"\n')
            daemon.end()
            daemon.options += ["--config", str(description)]
            daemon.start()
            running = daemon.submit_alone("running", 2, "--estimate", "2")
            daemon.until_launched(running)
            long = daemon.submit_alone("long", 0.1, "--estimate", "1000")
            short = daemon.submit_alone("short", 0.1, "--estimate", "1")
            description.write_text('scheduling = "sjf"\n')
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "sjf" in json.loads(daemon.run("status", "--json").stdout)["policy"], what="the switch")
            description.write_text('scheduling = "no such policy"\n')
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "not reloaded" in daemon.log(), what="the refusal")
            daemon.run("wait", str(running), str(long), str(short), "--timeout", "30")
            self.assertEqual(daemon.job(running)["launches"], 1)
            self.assertLess(daemon.job(short)["ended"], daemon.job(long)["started"])

    def test_a_selector_switches_between_policies(self):
        with Daemon(gpus=1) as daemon:
            description = daemon.base / "muster.toml"
            description.write_text('selector = "look-ahead"\n'
                                   '[[policy_set]]\nscheduling = "fifo"\n[[policy_set]]\nscheduling = "sjf"\n')
            daemon.end()
            daemon.options += ["--config", str(description)]
            daemon.start()
            running = daemon.submit_alone("running", 1, "--estimate", "1")
            daemon.until_launched(running)
            long = daemon.submit_alone("long", 0.1, "--estimate", "1000")
            short = daemon.submit_alone("short", 0.1, "--estimate", "1")
            daemon.run("wait", str(running), str(long), str(short), "--timeout", "30")
            self.assertLess(daemon.job(short)["ended"], daemon.job(long)["started"])
            self.assertEqual(daemon.job(running)["launches"], 1)

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

    def test_what_another_executor_would_heed_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            slurm = ("--executor", "slurm", "--partition", "gpu")
            for words in ((*slurm, "--fake-gpus", "3"), (*slurm, "--cgroup", "/sys/fs/cgroup"), ("--fake-gpus", "3", "--partition", "gpu")):
                done = subprocess.run([MUSTER, "serve", "--state", folder, *words], capture_output=True, text=True, timeout=30)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, "--(fake-gpus|cgroup|partition) .*(this machine alone|needs --executor slurm)")


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
        self.assertTrue(1.9 < job["ended"] - job["started"] < 4, job)

    def test_elasticflow_with_tables(self):
        """Without the model, batch size and iterations of the trace every job would be refused."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "net.csv").write_text("global_batch_size,1,2,4\n64,10,18,30\n")
            trace = ("job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
                     "tight,0,1000,net,70,64,1,100\nloose,1,1000,net,1000,64,1,100\nlate,2,1000,net,12,64,1,100\n")
            done, jobs = self.drive([*SYSTEMS["elasticflow"], "--perf", f"throughput-tables:folder={folder}"], trace,
                                    "--speed", "20", "--step", "0.05")
            self.assertEqual({job["name"]: job["state"] for job in jobs},
                             {"tight": "finished", "loose": "finished", "late": "refused"}, done.stderr)
            self.assertEqual(done.returncode, 1)
            self.assertIn("(late) was refused: its deadline cannot be met", done.stderr)
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
            done = subprocess.run([MUSTER, "demo", "--live", "-o", folder], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            figures = {line[:22].strip(): line[22:].split() for line in done.stdout.splitlines()[-12:]}
            self.assertGreater(int(figures["preemptions"][0]), 0, done.stdout)
            self.assertGreater(int(figures["resizes"][0]), 0, done.stdout)
            self.assertIn("killed", done.stdout)
            page = (pathlib.Path(folder) / "live.html").read_text()
            for word in ("real run", "simulator", "train20"):
                self.assertIn(word, page)


class Leases(unittest.TestCase):
    """Rounds as Gavel has them: a job knows how long its GPUs are certain, and learns in time whether it keeps them."""

    SCRIPT = (
        "import sys, time, os\n"
        f"sys.path.insert(0, {str(ROOT / 'python')!r})\n"
        "import muster_job\n"
        "name, total = sys.argv[1], int(sys.argv[2])\n"
        "def say(*words):\n"
        "    with open(name + '.log', 'a') as log:\n"
        "        print(*words, file=log)\n"
        "def load():\n"
        "    return int(open(name + '.step').read()) if os.path.exists(name + '.step') else 0\n"
        "def save(step):\n"
        "    open(name + '.step', 'w').write(str(step))\n"
        "    say('left', step, job.lease_left)\n"
        "job = muster_job.join(save=save)\n"
        "say('from', load())\n"
        "for step in job.steps(load(), total=total):\n"
        "    time.sleep(0.1)\n"
        "    say('lease', job.lease_left)\n"
        "say('done')\n")
    GAVEL = ("--preset", "gavel", "--scheduling", "gavel-max-min-fairness", "--pacing", "rounds:length=2")

    def submit(self, daemon, name, steps):
        return daemon.submit("--name", name, "--estimate", "100", "--", sys.executable, "-c", self.SCRIPT, name, str(steps))

    def log(self, daemon, name):
        file = daemon.work / f"{name}.log"
        return [line.split() for line in file.read_text().split("\n")[:-1]] if file.exists() else []

    def test_who_stays_keeps_running_and_who_leaves_learns_it_before_the_lease_ends(self):
        with Daemon(*self.GAVEL, gpus=1) as daemon:
            first = self.submit(daemon, "first", 120)
            daemon.until_launched(first)
            wait_until(lambda: len(self.log(daemon, "first")) > 65, what="three rounds")
            self.assertEqual(daemon.job(first)["launches"], 1)
            lefts = [float(words[1]) for words in self.log(daemon, "first") if words[0] == "lease" and words[1] != "None"]
            self.assertGreater(len(lefts), 50)
            self.assertTrue(all(0 < left <= 7.5 for left in lefts), (min(lefts), max(lefts)))
            # A lease runs down within a round and is given anew by the next.
            self.assertGreaterEqual(sum(later > earlier + 1 for earlier, later in zip(lefts, lefts[1:])), 2)
            second = self.submit(daemon, "second", 30)
            daemon.run("wait", str(first), str(second), "--timeout", "90")
            for name in ("first", "second"):
                log = [words for words in self.log(daemon, name) if words[0] != "lease"]
                for left, begun in zip(log[1::2], log[2::2]):
                    if left[0] == "left":
                        self.assertEqual(begun, ["from", left[1]])  # not a step is lost
                        self.assertGreater(float(left[2]), 0)
            self.assertGreater(daemon.job(first)["launches"], 1)

    def test_a_scheduler_that_stands_still_lets_leases_end(self):
        with Daemon(*self.GAVEL, gpus=1) as daemon:
            number = self.submit(daemon, "job", 120)
            wait_until(lambda: any(words[0] == "lease" and words[1] != "None" for words in self.log(daemon, "job")),
                       what="a lease")
            os.kill(daemon.process.pid, signal.SIGSTOP)
            wait_until(lambda: any(words[0] == "left" for words in self.log(daemon, "job")), what="its leaving")
            os.kill(daemon.process.pid, signal.SIGCONT)
            daemon.run("wait", str(number), "--timeout", "60")
            self.assertIn("its lease ended", daemon.job(number)["runs"][0]["detail"])
            self.assertEqual(daemon.job(number)["launches"], 2)

    def test_without_a_scheduler_leases_do_not_end(self):
        with Daemon(*self.GAVEL, gpus=1) as daemon:
            number = self.submit(daemon, "job", 110)
            wait_until(lambda: any(words[0] == "lease" and words[1] != "None" for words in self.log(daemon, "job")),
                       what="a lease")
            daemon.kill()
            time.sleep(8)
            daemon.options = ["--fake-gpus", "1"]  # and the next one knows of no rounds
            daemon.start()
            wait_until(lambda: self.log(daemon, "job")[-1][-1] == "None", what="the end of all leases")
            daemon.run("wait", str(number), "--timeout", "60")
            self.assertEqual(daemon.job(number)["launches"], 1)


class Revisions(unittest.TestCase):
    """What jobs ask for is changed, and still holds after the daemon was killed."""

    def test_what_cannot_be_kept_is_refused(self):
        with Daemon(gpus=4) as daemon:
            request = {"command": ["/bin/sleep", "1000"], "gpus": 2, "min_gpus": 1, "max_gpus": 2}
            number = daemon.call("POST", "/v1/jobs", request)[1]["id"]
            daemon.until_launched(number)
            status, answer = daemon.call("PATCH", f"/v1/jobs/{number}", {"gpus": 4})
            self.assertEqual((status, "a range of GPUs" in answer["error"]), (409, True), answer)
            fixed = daemon.submit("--hold", "--", "/bin/true")
            status, answer = daemon.call("PATCH", f"/v1/jobs/{fixed}", {"gpus": 5})
            self.assertEqual((status, "cannot have 5 GPUs" in answer["error"]), (409, True), answer)
            daemon.kill()
            daemon.start()
            self.assertEqual((daemon.job(number)["launches"], daemon.job(number)["gpus"]), (1, 2))
            self.assertEqual(daemon.job(fixed)["gpus"], 1)
            daemon.run("cancel", str(number), str(fixed))

    def test_of_one_that_is_on_hold(self):
        with Daemon(gpus=4) as daemon:
            number = daemon.submit("--hold", "--", "/bin/sleep", "1000")
            self.assertEqual(daemon.call("PATCH", f"/v1/jobs/{number}", {"gpus": 3, "priority": 7}), (200, {"done": True}))
            self.assertEqual([(job["gpus"], job["priority"]) for job in daemon.jobs()], [(3, 7)])
            daemon.run("release", str(number))
            self.assertEqual(daemon.until_launched(number)["placement"][0]["gpus"], [0, 1, 2])
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "reloaded" in daemon.log(), what="the reload")
            daemon.kill()
            daemon.start()
            self.assertEqual(json.loads(daemon.run("status", "--json").stdout)["trouble"], "")
            self.assertEqual((daemon.job(number)["launches"], daemon.job(number)["gpus"]), (1, 3))
            daemon.run("cancel", str(number))
            daemon.until(number, "cancelled")

    def test_of_one_that_runs_and_starts_anew(self):
        with Daemon(gpus=4) as daemon:
            number = daemon.submit("--", "/bin/sleep", "1000")
            daemon.until_launched(number)
            self.assertEqual(daemon.call("PATCH", f"/v1/jobs/{number}", {"gpus": 2})[0], 200)
            wait_until(lambda: daemon.job(number)["launches"] == 2, what="the next launch")
            job = daemon.until_launched(number)
            self.assertEqual((job["gpus"], job["placement"][0]["gpus"]), (2, [0, 1]))
            daemon.run("cancel", str(number))

    def test_a_description_that_cannot_be_read_fails_its_job_alone(self):
        with Daemon(gpus=2) as daemon:
            broken, fine = (daemon.submit("--", "/bin/sleep", "1000") for _ in range(2))
            for number in (broken, fine):
                daemon.until_launched(number)
            daemon.kill()
            self.change_store(daemon, "UPDATE jobs SET description = '{}' WHERE id = ?", broken)
            daemon.start()
            self.assertIn("'command' must be a list", daemon.until(broken, "failed")["reason"])
            wait_until(lambda: len(daemon.marked()) == 1, what="the end of its process")
            self.assertEqual((daemon.job(fine)["state"], daemon.job(fine)["launches"]), ("running", 1))
            daemon.run("cancel", str(fine))

    def test_a_daemon_that_decides_nothing_more_says_so(self):
        with Daemon(gpus=2) as daemon:
            running, other = (daemon.submit("--", "/bin/sleep", "1000") for _ in range(2))
            waiting = daemon.submit("--estimate", "10", "--", "/bin/sleep", "1000")
            for number in (running, other):
                daemon.until_launched(number)
            daemon.kill()
            # It denies the launch that there is, and is to be launched by the same number again.
            self.change_store(daemon, "UPDATE jobs SET launches = 0, state = 'queued' WHERE id = ?", running)
            daemon.start()
            wait_until(lambda: "nothing is decided any more" in daemon.run("status").stdout, what="the trouble")
            for status, answer in (daemon.call("POST", "/v1/jobs", {"command": ["/bin/true"]}),
                                   daemon.call("POST", f"/v1/jobs/{running}/hold"),
                                   daemon.call("PATCH", f"/v1/jobs/{running}", {"priority": 1}),
                                   daemon.call("POST", "/v1/nodes/node0/drain")):
                self.assertEqual((status, "nothing is decided any more" in answer["error"]), (503, True), answer)
            daemon.run("cancel", str(running), str(waiting))
            daemon.until(waiting, "cancelled")
            daemon.until(running, "cancelled")
            wait_until(lambda: len(daemon.marked()) == 1, what="the end of its process")
            # With what broke it gone, a reload goes on.
            self.assertEqual(daemon.call("POST", "/v1/reload")[0], 200)
            wait_until(lambda: json.loads(daemon.run("status", "--json").stdout)["trouble"] == "", what="the end of the trouble")
            daemon.run("wait", str(daemon.submit("--", "/bin/true")), "--timeout", "30")
            self.assertEqual((daemon.job(other)["state"], daemon.job(other)["launches"]), ("running", 1))
            daemon.run("cancel", str(other))

    @staticmethod
    def change_store(daemon, statement, number):
        with contextlib.closing(sqlite3.connect(daemon.state / "state.db")) as store, store:
            changed = store.execute(statement, (number,))
            assert changed.rowcount == 1


class SafeMode(unittest.TestCase):
    """A daemon that dies again and again right after its start goes on without the policy that it died with."""

    def status(self, daemon):
        status = json.loads(daemon.run("status", "--json").stdout)
        return status["safe_mode"], status["policy"].split()[0].split(":")[0]

    def test_deaths_lead_to_it_and_another_policy_out_of_it(self):
        with Daemon("--scheduling", "las", gpus=1) as daemon:
            for _ in range(3):
                self.assertEqual(self.status(daemon), (False, "las"))
                daemon.kill()
                daemon.start()
            self.assertEqual(self.status(daemon), (True, "fifo"))
            self.assertIn("safe mode", daemon.run("status").stdout)
            # It works, stays so while nothing else is tried, and forgets nothing when it ends well.
            for _ in range(4):
                daemon.run("wait", str(daemon.submit("--", "/bin/true")), "--timeout", "30")
            daemon.end()
            daemon.start()
            self.assertEqual(self.status(daemon), (True, "fifo"))
            daemon.end()
            daemon.options[-1] = "srtf"
            daemon.start()
            self.assertEqual(self.status(daemon), (False, "srtf"))
            self.assertNotIn("safe mode", daemon.run("status").stdout)

    def test_a_reload_tries_again(self):
        with Daemon("--scheduling", "las", "--safe-after", "1", gpus=1) as daemon:
            daemon.kill()
            daemon.start()
            self.assertEqual(self.status(daemon), (True, "fifo"))
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: self.status(daemon) == (False, "las"), what="the reload")
            for _ in range(4):
                daemon.run("wait", str(daemon.submit("--", "/bin/true")), "--timeout", "30")
            daemon.kill()
            daemon.start()
            self.assertEqual(self.status(daemon), (False, "las"))

    def test_who_ends_as_told_has_not_died(self):
        with Daemon("--scheduling", "las", gpus=1) as daemon:
            for _ in range(5):
                self.assertEqual(daemon.end(), 0)
                daemon.start()
            self.assertEqual(self.status(daemon), (False, "las"))

    def test_it_can_be_turned_off(self):
        with Daemon("--scheduling", "las", "--safe-after", "0", gpus=1) as daemon:
            for _ in range(5):
                daemon.kill()
                daemon.start()
            self.assertEqual(self.status(daemon), (False, "las"))


class Deaths(unittest.TestCase):
    def test_jobs_outlive_the_daemon_and_are_found_again(self):
        with Daemon(gpus=2) as daemon:
            running = daemon.submit_alone("outlives", 1.5)
            done = daemon.submit_alone("ends", 0.2)
            queued = daemon.submit("--gpus", "2", "--", "/bin/true")
            daemon.until_launched(running)
            daemon.until_launched(done)
            daemon.kill()
            time.sleep(0.6)  # one of them ends while nobody looks
            daemon.start()
            daemon.run("wait", str(running), str(done), str(queued), "--timeout", "30")
            self.assertEqual(daemon.job(running)["launches"], 1)
            self.assertEqual(daemon.job(done)["launches"], 1)
            self.assertFalse((daemon.work / "outlives.twice").exists())
            status = json.loads(daemon.run("status", "--json").stdout)
            self.assertEqual(status["generation"], 2)

    def test_logs_are_followed_over_a_restart(self):
        with Daemon() as daemon:
            number = daemon.submit("--", "/bin/sh", "-c", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done")
            daemon.until_launched(number)
            with subprocess.Popen([MUSTER, "logs", "--state", daemon.state, "-f", str(number)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as follower:
                self.assertEqual(follower.stdout.readline(), "1\n")
                daemon.kill()
                daemon.start()
                told = follower.communicate(timeout=30)
            self.assertEqual((told, follower.returncode), (("2\n3\n4\n5\n6\n", ""), 0))

    def test_a_second_daemon_is_refused(self):
        with Daemon() as daemon:
            second = subprocess.run([MUSTER, "serve", "--state", daemon.state, "--fake-gpus", "1"],
                                    capture_output=True, text=True, timeout=30)
            self.assertEqual(second.returncode, 1)
            self.assertIn(f"process id {daemon.process.pid}", second.stderr)

    def test_it_ends_cleanly_and_leaves_or_drains(self):
        with Daemon() as daemon:
            number = daemon.submit_alone("left", 2)
            daemon.until_launched(number)
            self.assertEqual(daemon.end(), 0)
            self.assertTrue(daemon.marked())
            daemon.options.append("--drain-on-stop")
            daemon.start()
            self.assertEqual(daemon.end(), 0)
            self.assertFalse(daemon.marked())
            daemon.start()
            daemon.run("wait", str(number), "--timeout", "30")
            self.assertEqual(daemon.job(number)["launches"], 2)

    def test_reload_loses_nothing(self):
        with Daemon(gpus=1) as daemon:
            running = daemon.submit_alone("reloaded", 1)
            queued = daemon.submit("--", "/bin/true")
            daemon.until_launched(running)
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "reloaded" in (daemon.base / "daemon.log").read_text(), what="the reload")
            daemon.run("wait", str(running), str(queued), "--timeout", "30")
            self.assertEqual(daemon.job(running)["launches"], 1)

    def test_keepers_are_killed(self):
        with Daemon(gpus=2) as daemon:
            numbers = [daemon.submit_alone(f"kept{i}", 0.5) for i in range(2)]
            for number in numbers:
                daemon.until_launched(number)
            for pid in daemon.keepers():
                os.kill(pid, signal.SIGKILL)  # guards and keepers alike
            daemon.run("wait", *map(str, numbers), "--timeout", "60")
            for i in range(2):
                self.assertFalse((daemon.work / f"kept{i}.twice").exists())
            wait_until(lambda: not daemon.marked(), what="the end of all processes")


if __name__ == "__main__":
    side_by_side.main()
