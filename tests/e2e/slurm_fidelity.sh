#!/usr/bin/env bash
# Some jobs on a real Slurm beside what the simulator says of them; `make slurm` does it with 200.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/fidelity.py "${@:-24}"
