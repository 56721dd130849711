#!/usr/bin/env bash
# What a real Slurm says of its jobs and nodes becomes a trace and a cluster file, and nothing is lost.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/import_test.py "$@"
