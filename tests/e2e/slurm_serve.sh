#!/usr/bin/env bash
# `muster serve --executor slurm` against a real Slurm of its own: every primitive, users' jobs, people's own doings.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/executor_test.py "$@"
