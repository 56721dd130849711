"""The job's client against a fake keeper. Run by tests/e2e/job_client.sh."""

import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))

import muster_job  # noqa: E402
from fake_keeper import FakeKeeper  # noqa: E402

VARIABLES = ("MUSTER_JOB_SOCKET", "MUSTER_JOB_TOKEN", "MUSTER_LAUNCH", "MUSTER_GPUS", "RANK", "LOCAL_RANK", "WORLD_SIZE",
             "MUSTER_LAUNCH_FOLDER")


class WithoutScheduler(unittest.TestCase):
    def setUp(self):
        for name in VARIABLES:
            os.environ.pop(name, None)

    def test_everything_is_inert(self):
        job = muster_job.join(save=lambda completed: self.fail("saved"))
        self.assertFalse(job.scheduled)
        self.assertFalse(job.resumed)
        self.assertEqual((job.rank, job.world_size, job.gpus), (0, 1, []))
        self.assertIsNone(job.lease_left)
        done = []
        for step in job.steps(3, total=6):
            job.report(loss=1.0)
            job.saved(step)
            done.append(step)
        self.assertEqual(done, [3, 4, 5])
        self.assertEqual(list(job.steps(6, total=6)), [])

    def test_a_socket_that_is_gone_is_no_reason_to_stop(self):
        script = "import muster_job; print(sum(muster_job.join().steps(0, 5)))"
        environment = dict(os.environ, PYTHONPATH=os.path.join(HERE, "..", "..", "python"),
                           MUSTER_JOB_SOCKET="/no/such/socket", MUSTER_JOB_TOKEN="t")
        run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (0, "10\n"))
        self.assertIn("going on without a scheduler", run.stderr)

    def test_shares_add_up(self):
        for world_size in range(1, 9):
            os.environ["WORLD_SIZE"] = str(world_size)
            parts = []
            for rank in range(world_size):
                os.environ["RANK"] = str(rank)
                parts.append(muster_job.join().share(30))
            self.assertEqual(sum(parts), 30)
            self.assertLessEqual(max(parts) - min(parts), 1)


class WithKeeper(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.keeper = FakeKeeper(self.folder.name)
        self.set_environment(self.keeper.path)

    def set_environment(self, path, rank=0):
        os.environ.update(MUSTER_JOB_SOCKET=path, MUSTER_JOB_TOKEN="secret", RANK=str(rank), WORLD_SIZE="2",
                          MUSTER_LAUNCH="3", MUSTER_GPUS="4,5")

    def tearDown(self):
        self.keeper.close()
        self.folder.cleanup()
        for name in VARIABLES:
            os.environ.pop(name, None)

    def test_a_whole_run_is_told(self):
        job = muster_job.join()
        self.assertTrue(job.scheduled and job.resumed)
        self.assertEqual(job.gpus, [4, 5])
        for step in job.steps(10, total=13):
            job.report(loss=step / 2, grad_norm=3)
        lines = self.keeper.wait_for(lambda lines: "done 13" in lines.get(0, []))[0]
        self.assertEqual(lines[0], "step 10 13")
        self.assertIn("step 13 13", lines)
        self.assertIn("metric loss 6.0", lines)
        self.assertIn("metric grad_norm 3.0", lines)

    def test_metrics_that_are_none(self):
        job = muster_job.join()
        job.report(loss=float("nan"))
        with self.assertRaises(ValueError):
            job.report(**{"two words": 1})
        list(job.steps(0, 1))
        lines = self.keeper.wait_for(lambda lines: "done 1" in lines.get(0, []))[0]
        self.assertFalse([line for line in lines if line.startswith("metric")])

    def test_it_saves_and_leaves_when_told(self):
        saved = []
        job = muster_job.join(save=saved.append)
        with self.assertRaises(SystemExit) as left:
            for step in job.steps(0, total=10_000_000):
                if step == 5:
                    threading.Thread(target=self.keeper.agree).start()
                time.sleep(0.001)
        self.assertEqual(left.exception.code, 0)
        lines = self.keeper.wait_for(lambda lines: lines[0][-1].startswith("left"))[0]
        self.assertIn("saved %d" % saved[0], lines)
        self.assertEqual(lines[-1], "left %d" % saved[0])
        asked = int([line for line in lines if line.startswith("at ")][0].split()[1])
        self.assertEqual(saved, [asked + 1])

    def test_all_ranks_leave_after_the_same_step(self):
        ranks = 3
        barrier = threading.Barrier(ranks)
        left = {}

        def train(rank):
            job = clients[rank]

            def save(completed):
                left[rank] = completed

            job._save = save
            try:
                for _ in job.steps(0, total=10_000_000):
                    time.sleep(0.0005 * rank)
                    barrier.wait()  # the collective operation of a step
            except SystemExit:
                pass

        clients = []
        for rank in range(ranks):
            self.set_environment(self.keeper.path, rank)
            clients.append(muster_job.join())
        threads = [threading.Thread(target=train, args=(rank,)) for rank in range(ranks)]
        for thread in threads:
            thread.start()
        self.keeper.wait_for(lambda lines: len(lines) == ranks)
        time.sleep(0.05)
        last = self.keeper.agree()
        for thread in threads:
            thread.join(10)
            self.assertFalse(thread.is_alive())
        self.assertEqual(left, {rank: last for rank in range(ranks)})

    def test_a_rank_waits_at_the_step_it_promised(self):
        job = muster_job.join(save=lambda completed: None)
        steps = job.steps(0, total=100)
        next(steps)
        self.keeper.wait_for(lambda lines: 0 in lines)
        self.keeper.say("where")
        self.keeper.wait_for(lambda lines: "at 0" in lines[0])
        waiting = threading.Thread(target=lambda: next(steps))
        waiting.start()
        time.sleep(0.1)
        self.assertTrue(waiting.is_alive())  # step 1 is done, and step 2 must not begin
        self.keeper.say("last 7")
        waiting.join(10)
        self.assertFalse(waiting.is_alive())

    def test_a_keeper_that_dies_holds_nobody_up(self):
        job = muster_job.join()
        steps = job.steps(0, total=3)
        next(steps)
        self.keeper.wait_for(lambda lines: 0 in lines)
        self.keeper.say("where")
        self.keeper.wait_for(lambda lines: "at 0" in lines[0])
        threading.Timer(0.05, self.keeper.hang_up).start()
        self.assertEqual(list(steps), [1, 2])

    def test_leases_are_renewed_at_three_quarters(self):
        job = muster_job.join()
        self.keeper.wait_for(lambda lines: 0 in lines)
        began = time.monotonic()
        self.keeper.say("lease 0.8")
        self.keeper.wait_for(lambda lines: "renew" in lines[0])
        self.assertGreater(time.monotonic() - began, 0.55)
        self.assertLess(time.monotonic() - began, 5)
        self.keeper.say("lease 0.2")  # the rest of the same lease: no second question
        time.sleep(0.4)
        self.keeper.say("lease 100")
        deadline = time.monotonic() + 5
        while not (job.lease_left or 0) > 90 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertGreater(job.lease_left, 90)
        self.assertEqual(self.keeper.lines[0].count("renew"), 1)
        self.keeper.say("lease none")
        while job.lease_left is not None and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertIsNone(job.lease_left)

    def test_a_path_longer_than_a_socket_name(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = os.path.join(folder, "d" * 100, "e" * 100)
            os.makedirs(deep)
            keeper = FakeKeeper(deep)
            self.set_environment(keeper.path)
            list(muster_job.join().steps(0, 2))
            keeper.wait_for(lambda lines: "done 2" in lines.get(0, []))
            keeper.close()

    def test_a_wrong_token_is_refused_and_the_job_goes_on(self):
        os.environ["MUSTER_JOB_TOKEN"] = "wrong"
        self.assertEqual(list(muster_job.join().steps(0, 3)), [0, 1, 2])

    def test_an_elastic_restart_goes_on_with_another_world_size(self):
        script = """
import json, os, sys, time, muster_job
def load():
    try: return json.load(open("checkpoint"))
    except FileNotFoundError: return 0
def save(completed):
    if job.rank == 0: json.dump(completed, open("checkpoint", "w"))
job = muster_job.join(save=save)
print("from", load(), "ranks", job.world_size, "share", job.share(12), flush=True)
for step in job.steps(load(), total=int(sys.argv[1])): time.sleep(0.002)
print("finished", flush=True)
"""
        environment = dict(os.environ, PYTHONPATH=os.path.join(HERE, "..", "..", "python"), WORLD_SIZE="4", RANK="0")

        def start(total):
            return subprocess.Popen([sys.executable, "-c", script, str(total)], env=environment, cwd=self.folder.name,
                                    stdout=subprocess.PIPE, text=True)

        with start(1_000_000) as first:
            self.keeper.wait_for(lambda lines: 0 in lines)
            time.sleep(0.05)
            last = self.keeper.agree()
            output, _ = first.communicate(timeout=20)
        self.assertEqual((first.returncode, output), (0, "from 0 ranks 4 share 3\n"))
        environment.update(WORLD_SIZE="2", MUSTER_LAUNCH="4")
        with start(last + 3) as second:
            output, _ = second.communicate(timeout=20)
        self.assertEqual((second.returncode, output), (0, "from %d ranks 2 share 6\nfinished\n" % last))


class InAFolder(unittest.TestCase):
    """Under Slurm: words are passed in files."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        for name in VARIABLES:
            os.environ.pop(name, None)
        os.environ.update(MUSTER_LAUNCH_FOLDER=self.folder.name, RANK="1", WORLD_SIZE="2")

    def tearDown(self):
        for name in VARIABLES:
            os.environ.pop(name, None)
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def tell(self, line):
        with open(self.path("words"), "a") as file:
            file.write(line)

    def said(self):
        with open(self.path("rank-1.words")) as file:
            return file.read().splitlines()

    def test_without_the_file_nobody_is_there(self):
        self.assertFalse(muster_job.join().scheduled)

    def test_a_whole_run_is_told(self):
        self.tell("")
        job = muster_job.join()
        self.assertTrue(job.scheduled)
        for _ in job.steps(10, total=13):
            job.report(loss=0.5)
        self.assertEqual(self.said()[:2], ["hello - 1", "step 10 13"])
        self.assertEqual(self.said()[-1], "done 13")
        self.assertIn("metric loss 0.5", self.said())

    def test_it_saves_and_leaves_when_told(self):
        self.tell("whe")  # the rest comes later
        saved = []
        job = muster_job.join(save=saved.append)

        def agree():
            self.tell("re\n")
            while not (at := [line for line in self.said() if line.startswith("at ")]):
                time.sleep(0.01)
            self.tell("last %d\n" % (int(at[0].split()[1]) + 1))
        with self.assertRaises(SystemExit):
            for step in job.steps(0, total=10_000_000):
                if step == 5:
                    threading.Thread(target=agree).start()
                time.sleep(0.01)
        asked = int([line for line in self.said() if line.startswith("at ")][0].split()[1])
        self.assertEqual(saved, [asked + 1])
        self.assertEqual(self.said()[-2:], ["saved %d" % saved[0], "left %d" % saved[0]])


if __name__ == "__main__":
    unittest.main()
