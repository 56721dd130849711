#!/usr/bin/env bash
# What `trace info` says about how a trace is read, every command says that reads it; and jobs of which a performance
# model knows nothing are counted.
source tests/e2e/story.sh
for i in 1 2 3 4; do
  printf 'ResNet-18 (batch size 16)\ttrue\t.\t--num_steps\t0\t1000\t1\t1\t-1\t%s\n' "$((i * 100))"
done >gavel.trace
assumed="run times assume 1 s a step"

tell "a conversion is told wherever it is made"
expect 0 muster trace info gavel.trace
says "$assumed"
expect 0 muster simulate gavel.trace -c 2x4 -o run -q
says "$assumed"
expect 0 muster report run -o run.html
says "$assumed"
grep -q "$assumed" run.html || fail "the page does not say so"
expect 0 muster compare gavel.trace -c 2x4 -s fifo -s las -o compared -q
[[ $(grep -c "$assumed" err) == 1 ]] || fail "once for all runs was expected"
expect 0 muster sweep gavel.trace -c 2x4 -s fifo -s las --no-save -q
says "$assumed"
expect 0 muster learn table gavel.trace -o table.csv
says "$assumed"

tell "bad lines that are left out are counted"
printf 'job_id,submit_s,duration_s,gpus\n1,0,10,1\n2,0,x,1\n' >bad.csv
expect 0 muster simulate bad.csv -c 2x4 --skip-bad --no-save -q
says "1 bad records of the trace were left out"

tell "a table of throughputs: jobs of unknown models are refused, jobs without a model are counted"
cat >table.json <<'JSON'
{"v100": {"('ResNet-18 (batch size 16)', 1)": {"null": 2.0}}}
JSON
expect 0 muster simulate gavel.trace -c 2x4:v100 --perf throughputs:file=table.json --no-save -q
grep -q "knows nothing" err && fail "all jobs are in the table"
expect 0 muster simulate -g poisson:jobs=20 -c 2x4:v100 --perf throughputs:file=table.json --no-save -q
says "knows nothing of 20 of 20 jobs"
expect 0 muster simulate gavel.trace -c 2x4 --perf throughputs:file=table.json --no-save -q
says "the cluster names no GPU types"
sed '2s/ResNet-18/ResNet-19/' gavel.trace >other.trace
expect 0 muster simulate other.trace -c 2x4:v100 --perf throughputs:file=table.json -o other -q
says "does not know 1 of 4 jobs"
says "is not in the table of throughputs"
[[ $(grep -c finished other/jobs.csv) == 3 ]] || fail "the other jobs go on"
grep -q "refused.*unknown-speed" other/jobs.csv || fail "the job is refused with the reason"
