#!/usr/bin/env bash
# `muster serve --executor slurm` against a real Slurm of its own: every primitive, users' jobs, people's own doings, kills.
set -euo pipefail
reason=$(cd tests/slurm && PYTHONDONTWRITEBYTECODE=1 python3 -c 'import lab; print(lab.why_not())') || { echo "needs python3"; exit 77; }
[[ -z $reason ]] || { echo "$reason"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/executor_test.py "$@"
