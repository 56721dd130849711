#!/usr/bin/env bash
# Tables, lists and help fit the terminal.
source tests/e2e/story.sh
python3 -c "import pty; pty.openpty()" 2>/dev/null || { echo "needs a pseudo-terminal"; exit 77; }
muster compare -g poisson:jobs=300,load=0.95 -c 4x8 -s fifo -s las:quantum=3600,boost_after=86400 -s srtf -o run -q >out
python3 -c 'print("job_id,submit_s,duration_s,gpus,user,partition\n1,x,2,3,a,b")' >bad.csv
commands=(
  "simulate -g poisson:jobs=100 -c 4x8 -s las -q --no-save"
  "compare -g poisson:jobs=100 -c 4x8 -s fifo -s las:quantum=3600 -s srtf -q --no-save"
  "sweep -g poisson:jobs=100 -c 4x8 -s fifo -s las --load 0.7,0.9 --seeds 2 -q --no-save"
  "report run -o page.html" "explain run/fifo" "explain run/fifo #5"
  "policies" "policies las" "policies gavel-max-min-fairness" "trace formats" "trace generate"
  "trace generate diurnal --describe" "data list" "data list gavel" "reproduce" "reproduce blox small_large -q"
  "trace info $tree/examples/slurm/sacct.txt --cluster $tree/examples/slurm/cluster.toml"
  "trace head $tree/examples/slurm/sacct.txt" "--help"
)
for name in demo simulate compare sweep reproduce explain report data learn policies; do commands+=("$name --help"); done
python3 "$tree/tests/e2e/terminal.py" "$command" "${commands[@]}" || fail "lines are wider than the terminal"
