#!/usr/bin/env bash
# Limits per user, full disks, clocks that are set, and processes that are stopped: each has a defined end.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/hardships.py "$@"
