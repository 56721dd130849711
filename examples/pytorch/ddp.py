"""PyTorch's DistributedDataParallel, preempted, shrunk, grown and resumed by Muster.

    muster submit --gpus 1-4 --per-gpu -- python3 examples/pytorch/ddp.py checkpoint.pt --steps 200

One process for each GPU: NCCL between GPUs, gloo between CPUs. A launch may have another number of ranks than the last
one. The samples of a batch are always the same and are shared out among the ranks, so the loss goes on as if nothing had
happened.
"""

import argparse
import os

import muster_job
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import workloads

parser = argparse.ArgumentParser()
parser.add_argument("checkpoint")
parser.add_argument("--model", choices=workloads.NAMES, default="cnn")
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--double", action="store_true", help="double precision: ranks add up in another order than one "
                    "process, and over thousands of steps single precision makes more and more of that")
chosen = parser.parse_args()

if os.environ.get("MASTER_ADDR") == "127.0.0.1":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all ranks are here, whatever this machine is called
torch.set_num_threads(1)  # the ranks share the cores
if chosen.double:
    torch.set_default_dtype(torch.float64)
workload = workloads.Workload(chosen.model, "cuda" if torch.cuda.is_available() else "cpu")


def save(completed):
    if job.rank == 0:  # all ranks hold the same
        workload.save(chosen.checkpoint, completed)


job = muster_job.join(save=save)
distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo", rank=job.rank,
                               world_size=job.world_size)
first, held = workload.load(chosen.checkpoint)
if job.rank == 0:
    print(f"launch {job.launch} of {job.world_size} ranks: {first} steps done, loss {workload.probe():.6f}, "
          f"checkpoint {held or 0:.6f}", flush=True)
network = DistributedDataParallel(workload.network, broadcast_buffers=False)

# This rank's part of every batch. DDP takes the mean over ranks, so a sample counts world_size / samples.
samples = workload.kind.samples
begin = job.rank * (samples // job.world_size) + min(job.rank, samples % job.world_size)
part = slice(begin, begin + job.share(samples))

for step in job.steps(first, total=chosen.steps):
    losses = workload.sample_losses(step, part, network)
    workload.optimizer.zero_grad(set_to_none=True)
    (losses.sum() * job.world_size / samples).backward()
    workload.optimizer.step()
    total = losses.detach().sum()
    distributed.all_reduce(total)
    loss = total.item() / samples
    job.report(loss=loss)
    if job.rank == 0:
        print(f"step {step} loss {loss:.6f}", flush=True)

save(chosen.steps)
if job.rank == 0:
    print("done", flush=True)
distributed.destroy_process_group()
