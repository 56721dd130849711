#!/usr/bin/env bash
# Who gets in, and sees and changes what: TLS and tokens from the network, users of one machine, and tricks.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
command -v openssl >/dev/null || { echo "needs openssl"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/access.py "$@"
