#!/usr/bin/env bash
# `muster serve` with no options on a machine with a driver: a pretended NVML, found beside a pretended nvidia-smi.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
command -v cc >/dev/null || { echo "needs a C compiler"; exit 77; }
driver=$(mktemp -d)
trap 'rm -rf "$driver"' EXIT
mkdir "$driver/bin" "$driver/lib64"
printf '#!/bin/sh\n' >"$driver/bin/nvidia-smi"
chmod +x "$driver/bin/nvidia-smi"
cc -shared -fPIC -O1 -o "$driver/lib64/libnvidia-ml.so.1" tests/e2e/fake_nvml.c
DRIVER=$driver PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/gpus.py "$@"
