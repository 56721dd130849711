#!/usr/bin/env bash
# What was measured on an H200, and what the simulator says of it: mean completion time and makespan within 5 %.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/h200.py
