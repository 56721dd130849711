"""The job's side of Muster: three lines around a training loop.

    import muster_job

    job = muster_job.join(save=save_checkpoint)             # 1
    for step in job.steps(load_checkpoint(), total=10_000):  # 2
        loss = train(step)
        job.report(loss=loss)                                # 3

When the scheduler wants the GPUs back all ranks leave after the same step: `save` is called with the number of
completed steps, the scheduler is told, and the process ends. The next launch, perhaps with another number of ranks,
goes on where `load_checkpoint` says. Where no scheduler is around, all of this does nothing and the script runs as ever.

Standard library only, Python 3.9 or later. The protocol is described in docs/job-protocol.md.
"""

from .job import Job, join

__all__ = ["Job", "join"]
