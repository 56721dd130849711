#!/usr/bin/env bash
# The Python package that `make python` installed: policies against their C++ twins, decisions of the environment.
cd "$(dirname "$0")/.." || exit 1
if ! build/venv/bin/python -c 'import muster' 2>/dev/null; then
  echo "skipped: the package is not installed; run make python"
  exit 0
fi
exec build/venv/bin/python bench/python_policies.py
