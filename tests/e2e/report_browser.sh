#!/usr/bin/env bash
# The report of a real comparison, opened in a headless Chromium: see report_browser.py for what is checked.
set -euo pipefail
muster=${MUSTER:?MUSTER must name the command}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for policy in fifo srtf las; do
  "$muster" simulate --generate philly-like:jobs=1500 --cluster 8x8 --scheduling "$policy" --seed 3 \
    --output "$folder/$policy" --quiet >/dev/null
done
"$muster" report "$folder"/{fifo,srtf,las} --output "$folder/compare.html" >/dev/null
"$muster" report "$folder/las" --output "$folder/one.html" >/dev/null
here=$(dirname "$0")
"$here/report_browser.py" "$folder/compare.html" "$folder"/{fifo,srtf,las}
"$here/report_browser.py" "$folder/one.html" "$folder/las"
