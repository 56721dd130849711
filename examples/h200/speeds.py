"""How fast each workload trains on this GPU, alone and co-located with each other one: a table as Gavel's policies
read it.

A process for each workload loads it once and then trains when it is told to, so that a pair costs seconds and not two
starts of PyTorch.
"""

import itertools
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "pytorch"))


def work(name, device):
    import workloads
    workload = workloads.Workload(name, device)
    number = 0
    for number in range(3):  # the first steps are slower
        workload.step(number)
    print("ready", flush=True)
    for line in sys.stdin:
        begin, end = map(float, line.split())
        ends = []
        while time.time() < end:
            number += 1
            workload.step(number)
            ends.append(time.time())
        inside = [at for at in ends if begin <= at <= end]
        print(json.dumps((len(inside) - 1) / (inside[-1] - inside[0]) if len(inside) > 1 else 0), flush=True)


class Worker:
    def __init__(self, name, device):
        self.name = name
        self.process = subprocess.Popen([sys.executable, __file__, name, device], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the measurement of {self.name} ended with {self.process.wait()}")
        return line.strip()

    def tell(self, begin, end):
        self.process.stdin.write(f"{begin} {end}\n")
        self.process.stdin.flush()


def rates(workers, seconds):
    """Steps per second of each, all at the same time."""
    begin = time.time() + 0.5  # both are at work by then
    for worker in workers:
        worker.tell(begin, begin + seconds)
    return [json.loads(worker.hear()) for worker in workers]


def measure(names, device, gpu_type, seconds):
    workers = {(name, copy): Worker(name, device) for name in names for copy in range(2)}
    for worker in workers.values():
        worker.hear()
    key = "('{}', 1)".format
    first = {name: rates([workers[name, 0]], seconds)[0] for name in names}
    table = {key(name): {} for name in names}
    for one, other in itertools.combinations_with_replacement(names, 2):
        mine, its = rates([workers[one, 0], workers[other, 1]], seconds)
        if one == other:  # which of two equal ones was faster is chance
            mine = its = (mine + its) / 2
        table[key(one)][key(other)] = [mine, its]
        table[key(other)][key(one)] = [its, mine]
    for name in names:  # and again: the speed of small ones is that of the host's cores, which comes and goes
        later = rates([workers[name, 1]], seconds)[0]
        table[key(name)]["null"] = (first[name] + later) / 2
        print(f"  {name} alone: {first[name]:.2f}, later {later:.2f}", flush=True)
    for worker in workers.values():
        worker.process.stdin.close()
    for worker in workers.values():
        worker.process.wait()
    return {gpu_type: table}


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2])
