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

import openapi_check
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

    def test_logs_longer_than_a_file(self):
        write = "import sys\nfor i in range(%d): sys.stdout.write('%%015d\\n' %% i * 4096)"
        with Daemon() as daemon:
            two = daemon.submit("--", sys.executable, "-c", write % 1100)  # blocks of 64 KiB; a file has 1024
            four = daemon.submit("--", sys.executable, "-c", write % 4000)
            with subprocess.Popen([MUSTER, "logs", "--state", daemon.state, "-f", str(two)], stdout=subprocess.PIPE) as follower:
                followed = follower.communicate(timeout=120)[0]
            whole = b"".join(b"%015d\n" % i * 4096 for i in range(1100))
            self.assertTrue(followed == whole, f"{len(followed)} bytes of {len(whole)} followed")
            daemon.run("wait", str(two), str(four), "--timeout", "120")
            done = daemon.run("logs", str(two))
            self.assertTrue((done.stdout.encode(), done.stderr) == (whole, ""), done.stderr)
            # Of the other the first files are gone, and nothing of the rest.
            done = daemon.run("logs", str(four))
            gone = 4000 * 65536 - len(done.stdout)
            self.assertEqual(done.stderr, f"muster: {gone} bytes of launch 1 are gone: of a long output the end is kept\n")
            self.assertTrue(0 < gone <= 2000 * 65536, gone)
            self.assertTrue(done.stdout.endswith("%015d\n" % 3999))
            blocks = [int(done.stdout[i:i + 15]) for i in range(len(done.stdout) % 65536, len(done.stdout), 65536)]
            self.assertEqual(blocks, list(range(4000 - len(blocks), 4000)))

    def test_logs_of_what_is_not_there(self):
        with Daemon() as daemon:
            number = str(daemon.submit("--gpus", "2", "--per-gpu", "--", "/bin/sh", "-c", "echo $RANK"))
            daemon.run("wait", number, "--timeout", "30")
            for words, why in ((("--launch", "77"), f"job {number} has no launch 77: it has only launch 1"),
                               (("--launch", "2"), f"job {number} has no launch 2: it has only launch 1"),
                               (("--rank", "9"), f"launch 1 of job {number} has no rank 9: it has ranks 0 to 1")):
                done = daemon.run("logs", number, *words, check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(why, done.stderr)
            self.assertEqual(daemon.run("logs", number, "--launch", "1", "--rank", "1").stdout, "1\n")
            held = str(daemon.submit("--hold", "--", "/bin/true"))
            self.assertEqual(daemon.run("logs", held).stdout, "")
            done = daemon.run("logs", held, "--launch", "1", check=False)
            self.assertEqual((done.returncode, "no launch 1 yet" in done.stderr), (1, True), done.stderr)

    def test_wait_knows_what_will_not_come(self):
        with Daemon() as daemon:
            begun = time.monotonic()
            done = daemon.run("wait", "99", check=False)
            self.assertEqual((done.returncode, "there is no job 99" in done.stderr), (1, True), done.stderr)
            daemon.end()
            done = daemon.run("wait", "1", check=False)
            self.assertEqual((done.returncode, "no daemon answers" in done.stderr), (1, True), done.stderr)
            self.assertLess(time.monotonic() - begun, 5)

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
            second = daemon.submit("--estimate", "50", "--", "/bin/sleep", "1000")
            third = daemon.submit("--estimate", "50", "--", "/bin/sleep", "1000")
            story = json.loads(daemon.run("explain", "--json", str(third)).stdout)
            self.assertEqual((story["jobs_before"], story["first_before"]), (1, [second]))
            self.assertTrue(140 < story["expected_start"] < 151, story)
            self.assertLess(story["expected_start_early"], story["expected_start"])
            self.assertGreater(story["expected_start_late"], story["expected_start"])
            self.assertIn("submit: it was submitted", story["decisions"][0]["text"])
            self.assertIn("expected to start in 2 min", daemon.run("explain", str(third)).stdout)
            for number in (first, third):
                daemon.run("cancel", str(number))

    def before(self, daemon, number):
        story = json.loads(daemon.run("explain", "--json", str(number)).stdout)
        self.assertEqual(story["jobs_before"], len(story["first_before"]))
        return story["first_before"]

    def test_who_is_before_a_job_is_for_the_policy_to_say(self):
        with Daemon("--scheduling", "sjf", gpus=1) as daemon:
            daemon.until_launched(daemon.submit("--estimate", "100", "--", "/bin/sleep", "1000"))
            long, short, middle = (daemon.submit("--estimate", seconds, "--", "/bin/sleep", "1000")
                                   for seconds in ("500", "50", "200"))
            self.assertEqual(self.before(daemon, long), [short, middle])
            self.assertEqual(self.before(daemon, middle), [short])
            self.assertEqual(self.before(daemon, short), [])
            self.assertIn(f"2 of those that wait will start before it: {short}, {middle}\n",
                          daemon.run("explain", str(long)).stdout)

    def test_who_is_before_one_that_had_its_share(self):
        with Daemon("--scheduling", "las", gpus=1) as daemon:
            numbers = []
            for seconds in (1.5, 0.3, 0):  # of service when the next comes
                numbers.append(daemon.submit("--estimate", "100", "--", "/bin/sleep", "1000"))
                daemon.until_launched(numbers[-1])
                time.sleep(seconds)
            self.assertEqual(self.before(daemon, numbers[0]), [numbers[1]])
            self.assertEqual(self.before(daemon, numbers[1]), [])

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

    def test_a_running_job_moves_to_other_gpus(self):
        """A third job comes, and two that go well together make room for it: one of them moves, with its work."""
        with Daemon("--preset", "muri", "--pacing", "ticks:length=1", gpus=2) as daemon:
            def submit(name, steps, stages):
                return daemon.submit("--name", name, "--stage-ms", stages, "--", MUSTER, "trainer", f"{name}.step", str(steps), "0.1")

            pair = [submit("sends", 100, "storage=40,gpu=10,network=50"), submit("computes", 100, "cpu=50,gpu=50")]
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
                story = json.loads(daemon.run("explain", "--json", str(job["id"])).stdout)
                self.assertTrue(any(one["text"].startswith("move: ") for one in story["decisions"]), story)
                # It goes on with the step after the last one it saved, and does each once.
                saved = [run["saved_step"] for run in job["runs"][:-1]]
                begun = [line.split()[4] for line in daemon.run("logs", str(job["id"])).stdout.split("\n") if "from step" in line]
                self.assertEqual(list(map(int, begun)), [0, *map(int, saved)], job)
                self.assertEqual(job["progress"]["step"], 100 if job["id"] in pair else 30)

    def test_antman_lets_opportunistic_jobs_use_what_others_leave_idle(self):
        with Daemon("--scheduling", "antman", "--placement", "antman", gpus=1) as daemon:
            self.assertIn("submit with --priority below 0", daemon.log())

            def submit(name, steps, *options):
                return daemon.submit("--name", name, *options, "--", MUSTER, "trainer", f"{name}.step", str(steps), "0.1")

            guaranteed = submit("guaranteed", 60)
            daemon.until_launched(guaranteed)
            waits = submit("waits", 5)
            beside = submit("beside", 20, "--priority", "-1")
            wait_until(lambda: sorted(json.loads(daemon.run("nodes", "--json").stdout)[0]["jobs"][0]) == [guaranteed, beside],
                       what="both on the GPU")
            daemon.run("wait", "--timeout", "60")
            told = {number: daemon.job(number) for number in (guaranteed, waits, beside)}
            self.assertEqual({(job["state"], job["launches"]) for job in told.values()}, {("finished", 1)}, told)
            self.assertLess(told[beside]["started"], told[guaranteed]["ended"])
            self.assertGreaterEqual(told[waits]["started"], told[guaranteed]["ended"] - 0.1)  # a guaranteed job shares with none

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


class Description(unittest.TestCase):
    """GET /openapi.json is true of every route: bodies that it describes are taken, answers are as it says."""

    TEXT = {("GET", "/v1/jobs/{id}/logs"), ("GET", "/metrics")}
    # What is sent to each route, in this order; BODY, QUERY and who stands for {id}.
    CALLS = [
        ("POST", "/v1/jobs", {"command": [MUSTER, "trainer", "openapi.step", "1000", "0.05"], "name": "first", "estimate": 100,
                              "memory_gb": 0.5, "request": "once"}, 201),
        ("POST", "/v1/jobs", {"command": ["/bin/true"], "request": "once"}, 200),
        ("POST", "/v1/jobs", {"command": ["/bin/sleep", "100"], "estimate": 50, "deadline": 1e6, "time_limit": 1e6}, 201),
        ("POST", "/v1/jobs", {"command": ["/bin/true"], "gpuz": 1}, 400),
        ("GET", "/v1/status", None, 200),
        ("GET", "/v1/jobs", None, 200),
        ("GET", "/v1/jobs/{id}", None, 200),
        ("PATCH", "/v1/jobs/{id}", {"priority": 3, "estimate": 90}, 200),
        ("PATCH", "/v1/jobs/{id}", {"color": 3}, 409),
        ("GET", "/v1/jobs/{id}/logs", None, 200),
        ("GET", "/v1/jobs/{id}/explain", None, 200),
        ("POST", "/v1/what-if", None, 200),
        ("POST", "/v1/what-if", {"add_nodes": "1x1", "drain": ["node=node0"], "samples": 3}, 200),
        ("GET", "/v1/nodes", None, 200),
        ("POST", "/v1/jobs/{id}/hold", None, 200),
        ("POST", "/v1/jobs/{id}/release", None, 200),
        ("POST", "/v1/jobs/{id}/cancel", None, 200),
        ("POST", "/v1/nodes/{node}/drain", None, 200),
        ("POST", "/v1/nodes/{node}/undrain", None, 200),
        ("POST", "/v1/tokens", {"days": 1}, 201),
        ("GET", "/v1/tokens", None, 200),
        ("POST", "/v1/tokens/{token}/revoke", None, 200),
        ("GET", "/metrics", None, 200),
        ("GET", "/openapi.json", None, 200),
        ("POST", "/v1/reload", None, 200),
        ("POST", "/v1/shutdown", {"drian": True}, 400),
        ("POST", "/v1/shutdown", {"drain": 1}, 400),
        ("POST", "/v1/shutdown", {"drain": True}, 200),
    ]

    def test_every_route(self):
        with Daemon(gpus=1) as daemon:
            document = daemon.call("GET", "/openapi.json")[1]
            routes = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
            self.assertEqual(routes, {call[:2] for call in self.CALLS})
            for method, path, body, status in self.CALLS:
                with self.subTest(method=method, path=path, body=body):
                    if "{token}" in path:
                        path_called = path.replace("{token}", daemon.call("GET", "/v1/tokens")[1][0]["name"])
                    else:
                        path_called = path.replace("{id}", "2" if path.endswith("explain") else "1").replace("{node}", "node0")
                    if path == "/v1/status":  # with a launch and its progress to speak of
                        wait_until(lambda: daemon.job(1)["progress"], what="progress")
                    operation = document["paths"][path][method.lower()]
                    if body is not None:
                        described = operation["requestBody"]["content"]["application/json"]["schema"]
                        self.assertEqual(bool(openapi_check.problems(body, described, document)), status == 400 or "color" in body)
                    schema = openapi_check.answer_schema(document, method, path, status)
                    self.assertEqual(schema is None, (method, path) in self.TEXT)
                    if schema is None:
                        self.assertEqual(daemon.call(method, path_called)[0], status)
                        continue
                    told = daemon.call(method, path_called, body)
                    self.assertEqual(told[0], status, told)
                    self.assertEqual(openapi_check.problems(told[1], schema, document), [], told)
            self.assertEqual(daemon.process.wait(timeout=60), 0)

    def test_wrong_words_are_wrong(self):
        """The check can fail: a field that is missing, new, of another type, or null."""
        document = {"components": {"schemas": {"Done": {"type": "object", "properties": {"done": {"type": "boolean"}},
                                                        "required": ["done"]}}}}
        for value in ({}, {"done": 1}, {"done": None}, {"done": True, "more": 1}, []):
            self.assertTrue(openapi_check.problems(value, {"$ref": "#/components/schemas/Done"}, document), value)
        self.assertEqual(openapi_check.problems({"done": True}, {"$ref": "#/components/schemas/Done"}, document), [])

    def test_what_nobody_knows_is_refused_with_the_nearest(self):
        with Daemon(gpus=1) as daemon:
            for target, word in (("/v1/jobs?state=runing", "did you mean 'running'"), ("/v1/jobs?owner=nobdy", "nobdy"),
                                 ("/v1/jobs?limit=-5", "'limit'"), ("/v1/jobs?stat=running", "did you mean 'state'"),
                                 ("/v1/jobs?active=yes", "'active'"), ("/v1/status?verbose=1", "takes no parameters")):
                status, told = daemon.call("GET", target)
                self.assertEqual(status, 400, told)
                self.assertIn(word, told["error"])
            for words, word in ((("--in", "runing"), "did you mean 'running'"), (("--owner", "nobdy"), "no user 'nobdy'"),
                                (("--limit", "-5"), "--limit")):
                refused = daemon.run("jobs", *words, check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(word, refused.stderr)
            self.assertEqual(daemon.call("GET", "/v1/jobs?owner=root&state=running&active=true&limit=3"), (200, []))


class Wishes(unittest.TestCase):
    """What a submission may say reaches the job, or its owner is told that it does not."""

    def test_cores_and_memory(self):
        with Daemon(gpus=1) as daemon:
            for words, word in ((("--cpus", "5000"), "5000 CPU cores, more than the"), (("--memory", "900000"), "GB of memory, more than")):
                refused = daemon.run("submit", *words, "--", "/bin/true", check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(word, refused.stderr)
            told = daemon.run("submit", "--cpus", "1", "--memory", "0.5", "--", "/bin/true")
            self.assertIn("not limited: the daemon was started without --cgroup", told.stderr)
            self.assertEqual(daemon.run("submit", "--cpus", "1", "--", "/bin/true").stderr, "")

    def test_the_length_by_iterations(self):
        """What they are worth is known by the length of a step, or once the job counts its steps."""
        counts = ("import sys, time\n"
                  f"sys.path.insert(0, {str(ROOT / 'python')!r})\n"
                  "import muster_job\n"
                  "for step in muster_job.join().steps(): time.sleep(0.1)\n")
        with Daemon(gpus=1) as daemon:
            def expected(*words):
                first = daemon.submit(*words)
                daemon.until_launched(first)
                second = daemon.submit("--", "/bin/true")
                yield lambda: json.loads(daemon.run("explain", "--json", str(second)).stdout)["expected_start"]
                daemon.run("cancel", str(second), str(first))
                daemon.until(first, "cancelled")

            for start in expected("--iterations", "1000", "--step-ms", "200", "--", "/bin/sleep", "1000"):
                self.assertTrue(190 < start() < 200.1, start())
            for start in expected("--", "/bin/sleep", "1000"):
                self.assertTrue(3500 < start() < 3600.1, start())
            for start in expected("--iterations", "2000", "--", sys.executable, "-c", counts):
                wait_until(lambda: 150 < start() < 300, what="a belief from the speed")

    def test_a_description_that_is_not_used_is_named(self):
        with Daemon(gpus=1) as daemon:
            self.assertNotIn("not used", daemon.log())
            daemon.end()
            (daemon.base / "muster.toml").write_text('scheduling = "fifo"\ncluster = "16x8"\n')
            daemon.options += ["--config", str(daemon.base / "muster.toml")]
            daemon.start()
            self.assertIn("not used of the description: the cluster 16x8", daemon.log())

    def test_a_job_file_with_everything(self):
        shows = "import json, os; json.dump(dict(os.environ, here=os.getcwd()), open('seen.json', 'w'))"
        with Daemon(gpus=2) as daemon:
            fields = daemon.call("GET", "/openapi.json")[1]["components"]["schemas"]["Submission"]["properties"]
            folder = daemon.base / "project"
            (folder / "inner").mkdir(parents=True)
            job = {"command": [sys.executable, "-c", shows], "name": "all of it", "gpus": 2, "min_gpus": 1, "max_gpus": 2, "max_nodes": 1,
                   "model": "net", "priority": 7, "deadline": 500, "time_limit": 300, "estimate": 20, "iterations": 100,
                   "step_ms": 12.5, "batch_size": 64, "cpus": 1, "memory_gb": 0.5, "retries": 2, "grace": 5,
                   "process_per_gpu": False, "hold": True, "working_directory": "inner", "checkpoint_directory": "saved",
                   "request": "mine"}
            # A machine has no partitions, and pretended GPUs are of no type.
            self.assertEqual(set(job) | {"environment", "stage_ms", "partition", "gpu_type"}, set(fields))
            lines = [f"{key} = {json.dumps(value)}" for key, value in job.items()]
            lines += ["stage_ms = { cpu = 2.5, gpu = 10 }", 'environment = { SEED = "1" }']
            (folder / "job.toml").write_text("\n".join(lines) + "\n")
            number = daemon.submit(str(folder / "job.toml"))
            self.assertEqual(daemon.submit(str(folder / "job.toml")), number)
            self.assertEqual(daemon.job(number)["launches"], 0)
            daemon.run("release", str(number))
            daemon.run("wait", str(number), "--timeout", "30")
            told = daemon.job(number)
            for key in ("name", "gpus", "min_gpus", "max_gpus", "priority", "time_limit", "command"):
                self.assertEqual(told[key], job[key])
            self.assertAlmostEqual(told["deadline"] - told["submitted"], 500, delta=0.01)
            seen = json.loads((folder / "inner" / "seen.json").read_text())
            self.assertEqual((seen["here"], seen["SEED"], seen["MUSTER_CHECKPOINT_DIR"]),
                             (str(folder / "inner"), "1", str(folder / "saved")))
            self.assertEqual(seen["CUDA_VISIBLE_DEVICES"], "0,1")

    def test_work_is_saved_where_the_owner_said(self):
        """--checkpoints: launch after launch finds there what the one before has saved."""
        saves = ("import os, pathlib, sys, time\n"
                 "place = pathlib.Path(os.environ['MUSTER_CHECKPOINT_DIR']) / 'count'\n"
                 "place.parent.mkdir(exist_ok=True)\n"
                 "count = int(place.read_text()) + 1 if place.exists() else 1\n"
                 "place.write_text(str(count))\n"
                 "sys.exit(0 if count == 3 else 1)\n")
        with Daemon(gpus=1) as daemon:
            number = daemon.submit("--checkpoints", "saved", "--retries", "5", "--", sys.executable, "-c", saves)
            daemon.run("wait", str(number), "--timeout", "60")
            self.assertEqual((daemon.job(number)["launches"], (daemon.work / "saved" / "count").read_text()), (3, "3"))


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

    def test_a_reload_is_answered_when_it_is_done(self):
        with Daemon(gpus=1) as daemon:
            config = daemon.work / "serve.toml"
            config.write_text('scheduling = "las"\n')
            daemon.end()
            daemon.options += ["--config", str(config)]
            daemon.start()
            config.write_text('scheduling = "srtf"\n')
            self.assertEqual(daemon.call("POST", "/v1/reload"), (200, {"done": True}))
            self.assertIn("srtf", daemon.call("GET", "/v1/status")[1]["policy"])
            config.write_text('scheduling = "nobody"\n')
            status, answer = daemon.call("POST", "/v1/reload")
            self.assertEqual((status, "nobody" in answer["error"]), (409, True), answer)
            self.assertIn("srtf", daemon.call("GET", "/v1/status")[1]["policy"])

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
