#!/usr/bin/env bash
# The way back of docs/slurm.md: the daemon ends, what waits is released, and Slurm's own scheduler runs it.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/back_test.py "$@"
