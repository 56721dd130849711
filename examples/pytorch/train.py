"""PyTorch in one process, on a CPU or a GPU, preempted and resumed by Muster.

    muster submit --gpus 1 -- python3 examples/pytorch/train.py checkpoint.pt --model cnn --steps 200

The three lines that Muster asks for are those with `job`. Each line of output tells the loss of one step; the first of a
launch tells the loss of a fixed batch, which is the one that the checkpoint held.
"""

import argparse
import time

import muster_job
import torch

import workloads

parser = argparse.ArgumentParser()
parser.add_argument("checkpoint")
parser.add_argument("--model", choices=workloads.NAMES, default="cnn")
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
chosen = parser.parse_args()

workload = workloads.Workload(chosen.model, chosen.device)
job = muster_job.join(save=lambda completed: workload.save(chosen.checkpoint, completed))
first, held = workload.load(chosen.checkpoint)
print(f"launch {job.launch}: {first} steps done, loss {workload.probe():.6f}, checkpoint {held or 0:.6f}", flush=True)

for step in job.steps(first, total=chosen.steps):
    loss = workload.step(step)
    job.report(loss=loss)
    print(f"step {step} loss {loss:.6f} at {time.time():.3f}", flush=True)

workload.save(chosen.checkpoint, chosen.steps)
print(f"done, loss {workload.probe():.6f}", flush=True)
