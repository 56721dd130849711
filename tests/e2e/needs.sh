#!/usr/bin/env bash
# What a policy needs and the inputs do not tell it is said: which need, of how many jobs, what it does instead and what
# would help; and who knows how long jobs will run is marked.
source tests/e2e/story.sh
printf 'job_id,submit_s,duration_s,gpus\n' >plain.csv
printf 'job_id,submit_s,duration_s,gpus,estimate_s\n' >estimated.csv
for i in $(seq 1 12); do
  printf '%s,%s,%s,2\n' "$i" "$((i * 10))" "$((400 - i * 30))" >>plain.csv
  printf '%s,%s,%s,2,%s\n' "$i" "$((i * 10))" "$((400 - i * 30))" "$((i == 1 ? 0 : 100))" >>estimated.csv
done
lacks="scheduling policy 'qssf' needs estimates of run times, but 12 of 12 jobs have none"

tell "a policy that is blind says so, and what would help"
expect 0 muster simulate plain.csv -c 1x4 -s qssf -o run -q
says "$lacks"
says "it is fifo"
says "--estimates FILE"
grep -q "needs estimates of run times" run/summary.json || fail "the result does not say so"
expect 0 muster report run -o run.html
grep -q "needs estimates of run times" run.html || fail "the page does not say so"
expect 0 muster simulate estimated.csv -c 1x4 -s qssf --no-save -q
says "1 of 12 jobs have none"
expect 0 muster simulate plain.csv -c 1x4 -s fifo --no-save -q
grep -q "needs" err && fail "fifo needs nothing"
expect 0 muster sweep plain.csv -c 1x4 -s qssf -s fifo --no-save -q
says "$lacks"
expect 0 muster simulate plain.csv -c 1x4 -s optimus --no-save -q
says "needs elastic jobs, but there are none among 12 jobs"

tell "it says so before the run, once"
rm -f err
(trap - INT; exec env --default-signal=INT "$command" simulate -g poisson:jobs=1000000,load=0.95 -c 64x8 -s qssf --no-save -q) >out 2>err &
pid=$!
while [[ ! -s err ]] && kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
kill -INT "$pid" || fail "the run was over before it said anything"
status=0
wait "$pid" || status=$?
[[ $status == 130 ]] || fail "status $status"
[[ $(grep -c "needs estimates of run times" err) == 1 ]] || fail "not said, or said twice"
[[ $(grep -n "needs estimates of run times" err | cut -d: -f1) -lt $(grep -n stopping err | cut -d: -f1) ]] ||
  fail "the warning comes after the run"

tell "who knows how long jobs will run is marked, and no headline hides it"
expect 0 muster compare plain.csv -c 1x4 -s fifo -s srtf -o compared -q
grep -q "knows durations" out || fail "the table does not mark srtf"
grep -q "srtf knows how long jobs will run, and fifo does not" compared/report.html || fail "the headline hides it"
expect 0 muster compare plain.csv -c 1x4 -s fifo -s sjf:by_estimate=true --no-save -q
grep -q "knows durations" out || fail "without estimates it takes durations, and the table does not say so"
says "such a job counts with its duration"
expect 0 muster compare plain.csv -c 1x4 -s fifo -s las --no-save -q
grep -q "knows durations" out && fail "neither knows them"

tell "the list of policies says what each needs and does"
expect 0 muster policies qssf
grep -q "needs estimates of run times" out || fail "it does not say what qssf needs"
expect 0 muster policies tiresias
grep -q "see also dlas-gpu" out || fail "it does not say which Tiresias it is"
