#!/usr/bin/env bash
# What it takes to start the command: 200 times `muster --version`, and how many shared libraries are loaded for it.
set -euo pipefail
muster=${MUSTER:-build/release/muster}
times=200
TIMEFORMAT='%R %U %S'
cost=$({ time for ((i = 0; i < times; i++)); do "$muster" --version >/dev/null; done; } 2>&1)
read -r wall user system <<<"$cost"
awk "BEGIN { printf \"start: %.1f ms, of these %.1f ms of processor time\", $wall * 1000 / $times, ($user + $system) * 1000 / $times }"
echo "; $(ldd "$muster" | grep -c '=>') shared libraries"
