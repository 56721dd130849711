"""A training loop without training: counts steps, saves its work when it has to leave, and goes on from there.

    python3 examples/live/train.py CHECKPOINT TOTAL [SECONDS_PER_STEP]

Alone it runs as any script; under `muster serve` it is preempted and resumed. See docs/job-protocol.md.
"""

import json
import os
import sys
import time

import muster_job

path, total = sys.argv[1], int(sys.argv[2])
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0.5


def load():
    if not os.path.exists(path):
        return 0
    with open(path) as file:
        return json.load(file)["step"]


def save(step):
    with open(path + ".new", "w") as file:
        json.dump({"step": step}, file)
    os.replace(path + ".new", path)  # whole or not at all


job = muster_job.join(save=save)
first = load()
print(f"launch {job.launch}: from step {first}", flush=True)
for step in job.steps(first, total=total):
    time.sleep(seconds)
    job.report(loss=1 / (step + 1))
    print(f"step {step + 1} of {total}", flush=True)
print("done", flush=True)
