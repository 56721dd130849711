#!/usr/bin/env bash
# Jobs on a Slurm of our own tell how far they are and are made smaller in place; a job that slurmctld forgot has ended as it did.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/slurm/elastic_test.py "$@"
