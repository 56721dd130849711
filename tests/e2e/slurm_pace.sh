#!/usr/bin/env bash
# Whole lives of jobs under Muster beside Slurm alone, in small; `make slurm` does it with 1,000 on 200 nodes.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/pace.py 40 100
