#!/usr/bin/env bash
# `muster serve` end to end: submit, preempt and resume, cancel, kill the daemon, keepers and jobs; no orphan, nothing twice.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/serve.py "$@"
