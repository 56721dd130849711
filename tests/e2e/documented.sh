#!/usr/bin/env bash
# Every command line in README.md, in docs/, in presets and in the examples of --help works; what sentences name exists.
set -euo pipefail
muster=${MUSTER:?MUSTER names the command to test}
PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/doc_names.py "$muster" .
PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/documented.py "$muster" . "$@"
