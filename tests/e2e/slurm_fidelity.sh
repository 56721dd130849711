#!/usr/bin/env bash
# Real jobs on a real Slurm beside the simulator's answer, in small; `make slurm` does it with 200.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/fidelity.py 36 sjf:by_estimate=true 0.4
