#!/usr/bin/env bash
# The shadow beside a real Slurm's own scheduler: it says what it would do, and touches nothing.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/shadow_test.py "$@"
