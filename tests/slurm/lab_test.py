"""The lab itself: that it starts, that its parts die and come back, and that it never outlives its owner."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from lab import HERE, Lab, wait_until, why_not


def processes_of(folder):
    """Those whose command or environment names the folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and folder.encode() in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


class TheLab(unittest.TestCase):
    def test_jobs_get_gpus_and_nodes_crash_and_come_back(self):
        with Lab(nodes="1:v100:4 1:a100:8", shards=2, settings={"SlurmdTimeout": 5}) as lab, tempfile.TemporaryDirectory() as out:
            nodes = lab.call("scontrol", "-o", "show", "node")
            self.assertIn("Gres=gpu:v100:4,shard:v100:8", nodes)
            self.assertIn("Gres=gpu:a100:8,shard:a100:16", nodes)
            job = lab.call("sbatch", "--parsable", "-p", "a100", "--gres=gpu:2", "-o", f"{out}/it", "--wrap",
                           "echo $CUDA_VISIBLE_DEVICES; sleep 100").strip()
            lab.until(job, "RUNNING")
            written = pathlib.Path(out, "it")
            wait_until(lambda: written.exists() and written.read_text() == "0,1\n", 30, "two GPUs")
            # Over a crash of the controller the job runs on; over one of its node it does not.
            time.sleep(5)  # until slurmctld has written its state
            lab.kill("slurmctld")
            wait_until(lambda: "slurmctld" not in lab.alive(), 5, "the end of slurmctld")
            lab.up("slurmctld")
            self.assertEqual(lab.state(job), "RUNNING")
            lab.kill("n2")
            wait_until(lambda: "n2" not in lab.alive(), 5, "the end of n2")
            lab.call("scontrol", "update", "nodename=n2", "state=down", "reason=test")
            lab.until(job, "PENDING")
            lab.up("n2")
            lab.call("scontrol", "update", "nodename=n2", "state=resume")
            lab.until_idle()

    def test_a_submit_plugin_holds_jobs(self):
        hold = "function slurm_job_submit(job, parts, uid)\n  job.priority = 0\n  return slurm.SUCCESS\nend\n" \
               "function slurm_job_modify(job, record, parts, uid)\n  return slurm.SUCCESS\nend\n"
        with Lab(nodes="1:v100:1", lua=hold) as lab:
            job = lab.call("sbatch", "--parsable", "--gres=gpu:1", "--wrap", "true").strip()
            self.assertIn("Reason=JobHeldUser", lab.call("scontrol", "-o", "show", "job", job))

    def test_accounting_knows_the_jobs(self):
        with Lab(nodes="1:v100:2", accounting=True) as lab:
            job = lab.call("sbatch", "--parsable", "--gres=gpu:v100:2", "-o", "/dev/null", "--wrap", "exit 3").strip()
            lab.until(job, "FAILED")
            wait_until(lambda: "FAILED|3:0|" in lab.call("sacct", "-X", "-P", "-n", "-j", job, "-o", "state,exitcode,alloctres"),
                       20, "the job in the accounting", 0.2)
            self.assertIn("gres/gpu:v100=2", lab.call("sacct", "-X", "-P", "-n", "-j", job, "-o", "alloctres"))

    def test_nothing_outlives_a_killed_owner(self):
        with tempfile.TemporaryDirectory() as out:
            script = "sbatch --gres=gpu:1 -o /dev/null --wrap 'sleep 1000'; until squeue -h -t R | grep -q .; do sleep 0.1; done; " \
                     f"echo $MUSTER_SLURM_LAB >{out}/folder; sleep 1000"
            owner = subprocess.Popen([sys.executable, str(HERE / "lab.py"), "run", "--nodes", "1:v100:1", "--", "bash", "-c", script],
                                     start_new_session=True, stdout=subprocess.DEVNULL)
            try:
                note = pathlib.Path(f"{out}/folder")
                wait_until(lambda: note.exists() and note.read_text().endswith("\n"), 30, "a lab")
                folder = note.read_text().strip()
                wait_until(lambda: any("sleep" in pathlib.Path(f"/proc/{pid}/comm").read_text() for pid in processes_of(folder)),
                           10, "its processes")
                owner.kill()
                owner.wait()
                wait_until(lambda: not pathlib.Path(folder).exists(), 10, "the end of the folder")
                # What the owner ran is not the lab's; it ends with this test.
                wait_until(lambda: all(os.getsid(pid) == owner.pid for pid in processes_of(folder)), 10, "the end of the processes")
            finally:
                os.killpg(owner.pid, signal.SIGKILL)


if __name__ == "__main__":
    if reason := why_not(accounting=True):
        print(reason)
        sys.exit(77)
    unittest.main()
