#!/usr/bin/env bash
# Ctrl-C: the first ends in good order, the second at once.
source tests/e2e/story.sh

# Large enough to be still running when the signal comes, on any machine.
long=(-g poisson:jobs=4000000,load=0.95 -c 64x8 -s las -q)

# interrupt_after WHAT SIGNALS COMMAND...: its exit status is in $status. WHAT is a number of seconds, or a file
# that must have something in it.
interrupt_after() {
  local what=$1 signals=$2 pid
  shift 2
  # A background job of a script ignores SIGINT unless it is told otherwise.
  (trap - INT; exec env --default-signal=INT "$command" "$@") >out 2>err &
  pid=$!
  if [[ $what =~ ^[0-9.]+$ ]]; then
    sleep "$what"
  else
    while [[ ! -s $what ]] && kill -0 "$pid"; do sleep 0.02; done
  fi
  for ((i = 0; i < signals; i++)); do
    kill -INT "$pid"
    sleep 0.1
  done
  status=0
  wait "$pid" || status=$?
}

tell "simulate keeps what was done, marked as incomplete"
interrupt_after 2 1 simulate "${long[@]}" -o results
[[ $status == 130 ]] || fail "status $status"
says "stopping"
says "results.incomplete"
absent results
python3 - <<'PY'
import json
summary = json.load(open("results.incomplete/summary.json"))
assert summary["complete"] is False and summary["jobs"] > 0, summary
PY
[[ -z $(find . -name '*partial*') ]] || fail "left behind: $(find . -name '*partial*')"

tell "a comparison keeps the runs that are whole, and names those that are missing"
interrupt_after cut/fifo/summary.json 1 compare -g poisson:jobs=20000,load=0.95 -c 16x8:v100 -s fifo \
  -s gavel-max-min-fairness --pacing rounds -o cut -j 1 -q
[[ $status == 130 ]] || fail "status $status"
says "1 of 2 runs are complete; missing: gavel-max-min-fairness"
grep -q "Missing: gavel-max-min-fairness" cut/report.html || fail "the page does not say what is missing"
expect 0 muster report cut -o later.html
says "missing: gavel-max-min-fairness"
expect 0 muster report cut/* -o all.html
grep -q "Missing: gavel-max-min-fairness" all.html || fail "the page does not say what is missing"

tell "a sweep goes on where it was, and ends as one that was never stopped"
options=(sweep -g poisson:jobs=3000,load=0.9 -c 8x8 -s las -s srtf --seeds 20)
interrupt_after swept/journal.jsonl 1 "${options[@]}" -j 1 -q -o swept
[[ $status == 130 ]] || fail "status $status: the machine is too fast for this story, or the signal was lost"
says "run the same command again to continue"
done_before=$(wc -l <swept/journal.jsonl)
((done_before > 0 && done_before < 40)) || fail "$done_before runs in the journal"
absent swept/points.csv
expect 0 muster "${options[@]}" -j 2 -q -o swept
says "$done_before of 40 runs were already done"
expect 0 muster "${options[@]}" -j 1 -q -o whole
same swept/points.csv whole/points.csv
same swept/cells.json whole/cells.json
expect 2 muster "${options[@]}" --load 0.8 -o swept
says "another sweep"

tell "a model that is being trained leaves no file, and an older one as it was"
awk 'BEGIN { srand(1); print "a,b,c,d,e,f,y"
             for (i = 0; i < 40000; i++) print rand() "," rand() "," rand() "," rand() "," rand() "," rand() "," rand() }' >table.csv
echo old >old.json
for model in new.json old.json; do
  interrupt_after 2 1 learn train table.csv --target y --rounds 100000 -o $model
  [[ $status == 130 ]] || fail "status $status"
  says "stopping"
done
absent new.json
[[ $(cat old.json) == old ]] || fail "the old model is gone"
[[ -z $(find . -name '*partial*') ]] || fail "left behind: $(find . -name '*partial*')"
