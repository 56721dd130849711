"""What jobs print: kept, cut, asked for and followed."""

import subprocess
import sys
import unittest

from live_daemon import MUSTER, Daemon


class Logs(unittest.TestCase):
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
            self.assertEqual(done.stderr, f"muster: {gone} bytes of launch 1 are gone: of a long output only the end is kept\n")
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

    def test_logs_can_be_followed(self):
        with Daemon() as daemon:
            number = daemon.submit("--", "/bin/sh", "-c", "for i in 1 2 3; do echo $i; sleep 0.2; done")
            self.assertEqual(daemon.run("logs", "-f", str(number)).stdout, "1\n2\n3\n")

    def test_logs_are_followed_over_a_restart(self):
        with Daemon() as daemon:
            # What readline() has taken in beyond a line would be lost to communicate(): there is nothing more by then.
            number = daemon.submit("--", "/bin/sh", "-c", "echo 1; until test -e killed.end; do sleep 0.05; done;"
                                   "for i in 2 3 4 5 6; do echo $i; sleep 0.3; done")
            daemon.until_launched(number)
            with subprocess.Popen([MUSTER, "logs", "--state", daemon.state, "-f", str(number)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as follower:
                self.assertEqual(follower.stdout.readline(), "1\n")
                daemon.kill()
                daemon.let_end("killed")
                daemon.start()
                told = follower.communicate(timeout=30)
            self.assertEqual((told, follower.returncode), (("2\n3\n4\n5\n6\n", ""), 0))
