#!/usr/bin/env bash
# Several policies on one workload: the table, the page, and the same answers at any number of threads.
source tests/e2e/story.sh

expect 0 muster compare -g diurnal:jobs=500,load=0.9 -c 4x8 -s fifo -s las:service=seconds -p consolidated \
  -p scattered -o one -j 1
prints "fifo + consolidated"
prints "las:service=seconds + scattered"
present one/report.html
expect 0 muster compare -g diurnal:jobs=500,load=0.9 -c 4x8 -s fifo -s las:service=seconds -p consolidated \
  -p scattered -o two -j 2 --json
python3 - <<'PY'
import json
runs = json.load(open("out"))
assert [run["label"] for run in runs] == [
    "fifo + consolidated", "fifo + scattered", "las:service=seconds + consolidated", "las:service=seconds + scattered"]
PY
for run in one/*/; do same "$run/jobs.csv" "two/$(basename "$run")/jobs.csv"; done

tell "each of them can be run again by itself"
expect 0 muster simulate --config one/fifo-scattered/inputs/run.toml -o again
same one/fifo-scattered/jobs.csv again/jobs.csv

tell "a page from results that lie about"
expect 0 muster report one/fifo-consolidated one/fifo-scattered -o both.html --title "Two placements"
grep -q "Two placements" both.html || fail "no title"

tell "the page of a whole comparison, by its folder or by all that is in it"
expect 0 muster report one -o folder.html
expect 0 muster report one/* -o all.html
same folder.html all.html
expect 2 muster report one/report.html -o none.html
says "no results"

tell "a second comparison in the same folder replaces the first"
echo mine >one/notes.txt
expect 0 muster compare -g poisson:jobs=50 -c 2x8 -s srtf -s las -o one -q
[[ $(ls one) == $'comparison.json\nlas\nnotes.txt\nreport.html\nsrtf' ]] || fail "$(ls one)"

tell "no best across clusters"
expect 0 muster compare -g poisson:jobs=50 -c 2x8 -c 4x8 -s fifo -s las -o clusters -q
prints "no best is marked"
grep -qF '*' out && fail "a best was marked"
expect 0 muster report one/las clusters/4x8-las -o mixed.html
prints "no best is marked"

tell "sweeps that name no folder do not stand in each other's way"
expect 0 muster sweep -g poisson:jobs=20 -c 2x4 -s fifo -s las -q
prints "results: results/sweep:"
expect 0 muster sweep -g poisson:jobs=30 -c 2x4 -s fifo -s las -q
prints "results: results/sweep-2:"
expect 0 muster sweep -g poisson:jobs=20 -c 2x4 -s fifo -s las -q
says "2 of 2 runs were already done in results/sweep"
