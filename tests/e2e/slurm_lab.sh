#!/usr/bin/env bash
# The Slurm that tests start for themselves: it starts, its parts die and come back, and it never outlives its owner.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/lab_test.py "$@"
