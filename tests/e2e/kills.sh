#!/usr/bin/env bash
# Daemons, keepers, guards and jobs are killed at random: no job lost, none twice, no accepted submission lost, no orphan.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/kills.py "$@"
