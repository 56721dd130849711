#!/usr/bin/env bash
# slurmds, slurmctld and the daemon are killed from a seed: nothing is lost, nothing runs twice.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/deaths_test.py "$@"
