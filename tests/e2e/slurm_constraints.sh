#!/usr/bin/env bash
# What users ask of Slurm for their own jobs is kept by `muster serve --executor slurm`, or said to be left alone.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/constraints_test.py "$@"
