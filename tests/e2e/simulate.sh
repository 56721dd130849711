#!/usr/bin/env bash
# A newcomer runs a trace, looks at the results, and runs them again.
source tests/e2e/story.sh

tell "a small trace on a small cluster"
cat >trace.csv <<'CSV'
job_id,submit_s,duration_s,gpus
a,0,100,4
b,10,50,8
c,20,400,2
d,30,10,1
e,40,30,64
CSV
expect 0 muster simulate trace.csv --cluster 2x4 --scheduling fifo -o results/fifo
prints "results: results/fifo"
for file in summary.json jobs.csv decisions.bin timeline.csv inputs/run.toml; do present "results/fifo/$file"; done
head -1 results/fifo/jobs.csv | grep -q '^job_id,submit_s,start_s,end_s,jct_s,queue_s,gpus,status,reason,preemptions' ||
  fail "jobs.csv has other columns"

tell "a job that can never fit is refused, with that reason"
grep -q '^4,40,,40,.*,64,refused,never-fits,' results/fifo/jobs.csv || fail "$(cat results/fifo/jobs.csv)"

tell "the summary is JSON with the promised members"
python3 - <<'PY'
import json
summary = json.load(open("results/fifo/summary.json"))
for key in ("jobs finished refused avg_jct_s p50_jct_s p99_jct_s makespan_s avg_queue_s utilization preemptions "
            "turns wall_s peak_rss_mb").split():
    assert key in summary, key
assert summary["jobs"] == 5 and summary["finished"] == 4 and summary["refused"] == 1, summary
PY

tell "the same run again from its inputs, from another folder, gives the same jobs and decisions"
mkdir elsewhere
(cd elsewhere && expect 0 muster simulate --config ../results/fifo/inputs/run.toml -o again)
same results/fifo/jobs.csv elsewhere/again/jobs.csv
same results/fifo/decisions.bin elsewhere/again/decisions.bin

tell "a trace that has changed since is noticed"
cp -r results/fifo changed
sed -i "s|^trace = .*|trace = \"$PWD/other.csv\"|" changed/inputs/run.toml
sed 's/^a,0,100/a,0,101/' trace.csv >other.csv
expect 2 muster simulate --config changed/inputs/run.toml --no-save
says "other.csv is not the file that the description was made with"

tell "why did job b wait?"
expect 0 muster explain results/fifo b
prints "b"
expect 0 muster explain results/fifo '#1' --json
python3 -m json.tool out >/dev/null || fail "not JSON"
expect 2 muster explain results/fifo nobody
says "nobody"
expect 0 muster report results/fifo --perfetto timeline.json
python3 -m json.tool timeline.json >/dev/null || fail "not JSON"

tell "options replace what the file says"
expect 0 muster simulate --config results/fifo/inputs/run.toml -s srtf -o results/srtf --json
python3 -c 'import json; s = json.load(open("out")); assert s["label"].startswith("srtf"), s["label"]'

tell "results in the way: a result is replaced, anything else is left alone"
expect 0 muster simulate trace.csv -c 2x4 -o results/fifo
mkdir mine && echo precious >mine/notes.txt
expect 2 muster simulate trace.csv -c 2x4 -o mine
says "mine"
grep -q precious mine/notes.txt || fail "a foreign folder was touched"

tell "a trace from a pipe, policies with parameters, figures on request, nothing saved"
expect 0 bash -c "'$command' simulate - -c 2x4 -s las:service=seconds,quantum=60 -p consolidated:one_node=true \
  --no-save --metrics avg_jct_s,p99_jct_s <trace.csv"
prints "avg JCT"
expect 0 muster simulate -g poisson:jobs=200,load=0.8 -c 4x8 --seed 3 --restart-cost 20 --node-mtbf 50000 \
  --checkpoint-every 600 --perf locality --perf scaling:serial=0.1 --set restart.first_start=5 -o results/poisson
grep -q 'first_start = 5' results/poisson/inputs/run.toml || fail "--set was not kept"
expect 0 muster simulate -g poisson:jobs=100 -c 4x8 --pacing rounds:length=300 --selector look-ahead:every=4 \
  --policy-set fifo --policy-set srtf+scattered+load-threshold:threshold=1.4 --no-save

tell "presets"
expect 0 muster simulate --preset blox -g blox-simple:load=7 -s las --measure 100-150 --no-save --json
python3 -c 'import json; s = json.load(open("out")); assert s["jobs"] == 51, s["jobs"]'
