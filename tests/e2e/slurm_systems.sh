#!/usr/bin/env bash
# The published systems schedule a real Slurm; jobs held by a plug-in; jobs packed through shards.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/systems_test.py "$@"
