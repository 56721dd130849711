"""Questions to a daemon: why and when a job starts, who is before it, and what if."""

import time
import unittest

from live_daemon import Daemon, wait_until


class Questions(unittest.TestCase):
    def test_why_and_when(self):
        with Daemon(gpus=1) as daemon:
            first = daemon.submit("--estimate", "100", "--", "/bin/sleep", "1000")
            daemon.until_launched(first)
            second = daemon.submit("--estimate", "50", "--", "/bin/sleep", "1000")
            third = daemon.submit("--estimate", "50", "--", "/bin/sleep", "1000")
            story, least, most = daemon.left_of(first, 150, lambda: daemon.told("explain", third))
            self.assertEqual((story["jobs_before"], story["first_before"]), (1, [second]))
            self.assertTrue(least < story["expected_start"] < most, (least, story, most))
            self.assertLess(story["expected_start_early"], story["expected_start"])
            self.assertGreater(story["expected_start_late"], story["expected_start"])
            decisions = wait_until(lambda: daemon.told("explain", third)["decisions"], what="its first decision in the store")
            self.assertIn("submit: it was submitted", decisions[0]["text"])
            self.assertIn("expected to start in 2 min", daemon.run("explain", str(third)).stdout)
            for number in (first, third):
                daemon.run("cancel", str(number))

    def before(self, daemon, number):
        story = daemon.told("explain", number)
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
        """The first has had more than the second: that one goes on before it. On a slow machine a launch and the next
        submission last, and the second has more meanwhile: then the first is given more."""
        for seconds in (0.5, 2, 8, 32):
            with Daemon("--scheduling", "las", gpus=1) as daemon:
                numbers = []
                for pause in (seconds, 0, 0):  # before the next comes
                    numbers.append(daemon.submit("--estimate", "100", "--", "/bin/sleep", "1000"))
                    daemon.until_launched(numbers[-1])
                    time.sleep(pause)
                first, second = (daemon.job(number)["gpu_seconds"] for number in numbers[:2])
                self.assertGreaterEqual(first, seconds)
                self.assertGreater(second, 0)
                if first > 1.5 * second:
                    self.assertEqual(self.before(daemon, numbers[0]), [numbers[1]])
                    self.assertEqual(self.before(daemon, numbers[1]), [])
                    return
        self.fail(f"of {seconds} s more than the second has had, the first has had {first} s and the second {second} s")

    def test_when_one_that_was_preempted_goes_on(self):
        with Daemon("--scheduling", "srtf", gpus=1) as daemon:
            long = daemon.submit("--estimate", "1000", "--", "/bin/sleep", "1000")
            daemon.until_launched(long)
            short = daemon.submit("--estimate", "100", "--", "/bin/sleep", "1000")
            daemon.until_launched(short)
            story, least, most = daemon.left_of(short, 100, lambda: daemon.told("explain", long))
            self.assertTrue(least < story["expected_start"] < most, (least, story, most))
            daemon.run("cancel", str(long), str(short))

    def test_what_if(self):
        with Daemon(gpus=2) as daemon:
            first = daemon.submit("--gpus", "2", "--estimate", "100", "--", "/bin/sleep", "1000")
            daemon.until_launched(first)
            second = daemon.submit("--gpus", "2", "--estimate", "50", "--", "/bin/sleep", "1000")

            def asked(*words):
                """The answer, its times from now on, and what of them is left by then of so many seconds of the first."""
                answer, least, most = daemon.left_of(first, 0, lambda: daemon.told("what-if", *words))
                times = {}
                for when in ("as_is", "changed"):
                    for job in answer.get(when, {}).get("jobs", []):
                        times[when, job["number"]] = {
                            key: None if value["believed"] is None else value["believed"] - answer["now_s"]
                            for key, value in job.items() if key in ("start_s", "end_s")}
                return answer, times, lambda seconds, value: self.assertTrue(seconds + least < value < seconds + most, times)

            answer, times, near = asked()
            near(100, times["as_is", second]["start_s"])
            band = next(job for job in answer["as_is"]["jobs"] if job["number"] == second)["start_s"]
            self.assertLess(band["early"], band["believed"])
            self.assertGreater(band["late"], band["believed"])
            _, times, _ = asked("--add-nodes", "1x2")
            self.assertTrue(0 <= times["changed", second]["start_s"] < 1, times)
            _, times, near = asked("--scheduling", "srtf")
            self.assertTrue(0 <= times["changed", second]["start_s"] < 1, times)
            near(150, times["changed", first]["end_s"])
            _, times, near = asked("--drain", "node=node0")
            self.assertIsNone(times["changed", second]["start_s"])
            near(100, times["changed", first]["end_s"])
            _, times, near = asked("--submit", "gpus=1,duration=10")
            near(150, times["changed", second + 1]["start_s"])
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
