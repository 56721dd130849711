"""GPUs that NVML finds, end to end: what they are, what they do, and which of them a job gets."""

import os
import shutil
import subprocess
import unittest

from live_daemon import Daemon


def with_driver(*options, environment=None):
    path = {"PATH": os.environ["DRIVER"] + "/bin:" + os.environ["PATH"]}
    return Daemon(*options, gpus=None, environment={**path, **(environment or {})})


class Driver(unittest.TestCase):
    def test_its_gpus_are_found_and_looked_at(self):
        with with_driver() as daemon:
            node = daemon.told("nodes")[0]
            self.assertEqual((node["gpus"], node["gpu_type"]), (2, "h200"))
            first, second = node["gpu_use"]
            self.assertEqual(first, {"gpu": 0, "name": "NVIDIA H200", "busy": 0.25, "memory_used_bytes": 2.0 ** 30,
                                     "memory_bytes": 150 * 2.0 ** 30, "watts": 310.5})
            self.assertIsNone(second["watts"])
            text = daemon.run("nodes").stdout
            self.assertIn("25 %, 1.0 of 150.0 GiB, 310 W; 50 %, 2.0 of 150.0 GiB", text)

    def test_prometheus_sees_them(self):
        if not shutil.which("curl"):
            self.skipTest("needs curl")
        with with_driver() as daemon:
            done = subprocess.run(["curl", "-sS", "--unix-socket", str(daemon.state / "api.sock"),
                                   "http://localhost/metrics"], capture_output=True, text=True, check=True)
            for line in ('muster_gpu_busy{gpu="1"} 0.5', 'muster_gpu_memory_used_bytes{gpu="0"} 1073741824',
                         'muster_gpu_power_watts{gpu="0"} 310.5'):
                self.assertIn(line, done.stdout)
            self.assertNotIn('power_watts{gpu="1"}', done.stdout)

    def test_a_job_gets_them_by_number_and_by_type(self):
        with with_driver() as daemon:
            number = daemon.submit("--gpus", "2", "--gpu-type", "h200", "--", "/bin/sh", "-c",
                                   "echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER")
            daemon.run("wait", str(number), "--timeout", "30")
            self.assertEqual(daemon.run("logs", str(number)).stdout, "0,1 PCI_BUS_ID\n")

    def test_a_job_is_put_beside_one_that_runs(self):
        with with_driver("--scheduling", "gavel-fifo-packed:reset_interval=0", environment={"FAKE_GPUS": "1"}) as daemon:
            first = daemon.submit("--", "/bin/sleep", "3")
            daemon.until_launched(first)
            second = daemon.submit("--", "/bin/sleep", "1")
            daemon.until_launched(second)
            self.assertEqual(daemon.job(first)["launch_state"], "running")
            self.assertEqual(daemon.gpu_jobs(), [[first, second]])
            daemon.run("wait", str(first), str(second), "--timeout", "30")
            self.assertLess(daemon.job(second)["ended"], daemon.job(first)["ended"])
            self.assertTrue(daemon.job(first)["runs"][0]["shared"])

    def test_pretended_gpus_are_not_looked_at(self):
        with Daemon(gpus=2) as daemon:
            node = daemon.told("nodes")[0]
            self.assertNotIn("gpu_use", node)
            self.assertNotIn("busy", daemon.run("nodes").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
