"""What a training script sees."""

import os
import time

from .client import Client


def join(save=None):
    """The job that this process belongs to. `save(completed_steps)` writes a checkpoint when the job has to leave."""
    path = os.environ.get("MUSTER_JOB_SOCKET")
    token = os.environ.get("MUSTER_JOB_TOKEN")
    rank = _number("RANK", 0)
    folder = os.environ.get("MUSTER_LAUNCH_FOLDER")  # under Slurm, where nodes see the daemon's state folder
    client = None
    if path and token:
        client = Client.connect(path, token, rank)
    elif folder and os.path.exists(os.path.join(folder, "words")):
        client = Client.in_folder(folder, rank)
    return Job(client, save)


def _number(name, default):
    try:
        return int(os.environ.get(name, ""))
    except ValueError:
        return default


class _Pace:
    """How long a step takes, from the first `count` of them; the very first one warms up and does not count."""

    def __init__(self, count):
        self._count = count
        self._done = 0
        self._began = 0.0
        self._seconds = []

    def begin(self):
        self._began = time.monotonic()

    def end(self):
        self._done += 1
        self._seconds.append(time.monotonic() - self._began)

    def known(self):
        return 0 < self._count <= self._done

    def wait(self):
        seconds = self._seconds[1:] or self._seconds
        time.sleep(sum(seconds) / len(seconds))


class Job:
    """One launch of a job, as one of its ranks sees it."""

    def __init__(self, client, save):
        self._client = client
        self._save = save
        self.rank = _number("RANK", 0)
        self.local_rank = _number("LOCAL_RANK", 0)
        self.world_size = _number("WORLD_SIZE", 1)
        self.launch = _number("MUSTER_LAUNCH", 1)
        self.gpus = [int(gpu) for gpu in os.environ.get("MUSTER_GPUS", "").split(",") if gpu.strip().isdigit()]

    @property
    def scheduled(self):
        """Whether a scheduler is around."""
        return self._client is not None

    @property
    def resumed(self):
        """Whether this is not the job's first launch."""
        return self.launch > 1

    @property
    def lease_left(self):
        """Seconds for which the GPUs are certain; None: until told otherwise."""
        return self._client.lease_left() if self._client else None

    def share(self, count):
        """This rank's part of `count` things, such as the samples of a global batch: parts of all ranks add up to
        `count` and differ by one at most, so that the batch stays the same whatever the number of ranks."""
        return count // self.world_size + (1 if self.rank < count % self.world_size else 0)

    def steps(self, first=0, total=None, fast_forward=0):
        """Yields the numbers of the steps to do, from `first` (steps completed before) to `total` - 1.

        A step counts as completed when the loop asks for the next one. When the job has to leave, this saves, tells the
        scheduler and raises SystemExit(0).

        With `fast_forward`, only so many steps of each launch are yielded; the others pass without being done, as fast as
        those took, and are accounted for. It is for trials of a scheduler, not for training.
        """
        completed = first
        pace = _Pace(fast_forward)
        if self._client:
            self._client.begin(completed, total)
        while total is None or completed < total:
            if self._client and self._client.must_leave():
                self.leave(completed)
            if pace.known():
                pace.wait()
            else:
                pace.begin()
                yield completed
                pace.end()
            completed += 1
            if self._client:
                self._client.completed(completed)
        if self._client:
            self._client.goodbye("done", completed)

    def report(self, **metrics):
        """Numbers for people and policies; the latest of each name is sent about once a second."""
        if self._client:
            self._client.report(metrics)

    def saved(self, completed):
        """Tells that a checkpoint with so many completed steps is on the disk."""
        if self._client:
            self._client.say("saved %d" % completed)

    def leave(self, completed):
        """Saves, tells the scheduler to start the job again later, and ends the process."""
        if self._save is not None:
            self._save(completed)
            self.saved(completed)
        if self._client:
            self._client.goodbye("left", completed)
        raise SystemExit(0)
