#!/usr/bin/env bash
# The short form of what `make slurm` does: a slurmd, Slurm's controller, the daemon and both are killed while jobs run. Each runs once.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
MUSTER_SEED=${MUSTER_SEED:-986} MUSTER_KILLS=4 PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/deaths_test.py "$@"
