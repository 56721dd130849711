#!/usr/bin/env bash
# The PyTorch examples under `muster serve`: preempted, shrunk, grown and resumed, with the loss of a run that never stopped.
set -euo pipefail
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import torch' 2>/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 exec "$python" tests/e2e/pytorch.py "$@"
  fi
done
echo "needs PyTorch (on Debian: python3-torch)"
exit 77
