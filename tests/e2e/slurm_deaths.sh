#!/usr/bin/env bash
# The short form of what `make slurm` does: Slurm's controller, a node and the daemon are killed while jobs run. Each runs once.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
MUSTER_SEED=${MUSTER_SEED:-986} MUSTER_KILLS=3 PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/deaths_test.py Deaths.test_killed_at_random "$@"
