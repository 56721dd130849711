#!/usr/bin/env bash
# The job-side client in Python against a fake keeper: leases, the agreement on the last step, elastic restarts.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 -W ignore::ResourceWarning tests/python/test_muster_job.py
