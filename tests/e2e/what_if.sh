#!/usr/bin/env bash
# A saved run is asked when jobs start and end, and what a change would do. The answer about the run as it is comes true.
source tests/e2e/story.sh
printf 'job_id,submit_s,duration_s,gpus\n' >jobs.csv
for i in $(seq 1 30); do printf 'j%s,%s,%s,%s\n' "$i" "$((i * 10))" "$((100 + i * 37 % 200))" "$((1 + i % 4))" >>jobs.csv; done
expect 0 muster simulate jobs.csv -c 1x4 -s fifo --save-at 29 --save-run state -o run -q

tell "as it is: the answer is what then happens"
expect 0 muster what-if state

prints "jobs run"
prints "mean completion time"
expect 0 muster what-if state --json
python3 - <<'PY' || fail "the answer is not what happened"
import csv, json
said = {job["job"]: job for job in json.load(open("out"))["as_is"]["jobs"]}
assert len(said) > 10, len(said)
for row in csv.DictReader(open("run/jobs.csv")):
    if row["name"] not in said:
        continue
    job = said[row["name"]]
    assert abs(job["end_s"]["believed"] - float(row["end_s"])) < 1e-6, (row, job)
    assert abs(job["start_s"]["believed"] - float(row["start_s"])) < 1e-6, (row, job)
PY

tell "one job, and changes"
expect 0 muster what-if state --job j30
prints "j30"
expect 0 muster what-if state --job j30 --add-nodes 1x4
prints "earlier"
expect 0 muster what-if state --scheduling srtf --json
expect 0 muster what-if state --drain node=0
prints "drained nodes empty"
expect 0 muster what-if state --submit gpus=2,duration=60 --job new --errors log-normal:sigma=1
prints " to "

tell "commands that take time take it in copies, too"
expect 0 muster simulate jobs.csv -c 1x4 -s fifo --set life.start_latency=100 --set life.stop_latency=60 --set life.spread=0 \
  --save-at 29 --save-run slow -o slow_run -q
expect 0 muster what-if slow --json
python3 - <<'PY' || fail "the answer is not what happened"
import csv, json
said = {job["job"]: job for job in json.load(open("out"))["as_is"]["jobs"]}
rows = [row for row in csv.DictReader(open("slow_run/jobs.csv")) if row["name"] in said]
assert len(rows) > 10, len(rows)
for row in rows:
    job = said[row["name"]]
    assert abs(job["end_s"]["believed"] - float(row["end_s"])) < 1e-6, (row, job)
    assert abs(job["start_s"]["believed"] - float(row["start_s"])) < 1e-6, (row, job)
PY
expect 0 muster what-if slow --scheduling srtf

tell "a selector goes on choosing in copies, whatever the order of its policy sets"
for sets in "srtf fifo" "fifo srtf"; do
  read -r first second <<<"$sets"
  expect 0 muster simulate jobs.csv -c 1x4 --selector look-ahead --policy-set "$first" --policy-set "$second" \
    --save-at 29 --save-run "by_$first" --no-save -q
  for change in "--add-nodes 1x1" "--placement consolidated" "--placement scattered" "--scheduling fifo"; do
    # shellcheck disable=SC2086
    expect 0 muster what-if "by_$first" $change --json
    cp out "by_$first${change// /}.json"
  done
done
python3 - <<'PY' || fail "the answer depends on the order of the policy sets, or on what is no change"
import json
def ends(first, change, which):
    return [job["end_s"] for job in json.load(open(f"by_{first}{change}.json"))[which]["jobs"]]
for change in ("--add-nodes1x1", "--placementconsolidated", "--placementscattered", "--schedulingfifo"):
    assert ends("srtf", change, "changed") == ends("fifo", change, "changed"), change
for first in ("srtf", "fifo"):
    assert ends(first, "--placementconsolidated", "changed") == ends(first, "--placementconsolidated", "as_is")
    assert ends(first, "--schedulingfifo", "changed") != ends(first, "--schedulingfifo", "as_is")
PY

tell "copies look beyond the second at which the simulation stops"
expect 0 muster simulate jobs.csv -c 1x4 -s fifo --set engine.until=400 --save-at 29 --save-run stops --no-save -q
expect 0 muster what-if stops
grep -q "no predicted" out && fail "jobs that go on have no predicted end"
expect 0 muster what-if stops --drain node=0
prints "jobs have no predicted end"

tell "mistakes are named"
for form in "" --json; do
  expect 2 muster what-if state --job '#41' $form
  says "job '#41' is not among"
done
expect 2 muster what-if state --horizon 0
says "--horizon: '0' is not a number above zero"
expect 2 muster what-if jobs.csv
says "is not a saved run"
expect 2 muster what-if state --job nobody
says "job 'nobody' is not among"
expect 2 muster what-if state --drain rack
says "expected node=N, rack=N or partition=NAME"
expect 2 muster what-if state --scheduling elasticflow-as-coded
says "counts on turns of the pacing 'gathered'"

tell "a saved run that began with a preset"
expect 0 muster simulate jobs.csv -c 1x4 --preset blox -s fifo --save-at 20 --save-run preset --no-save -q
expect 0 muster what-if preset

tell "damage is seen"
python3 - <<'PY'
data = bytearray(open("state", "rb").read())
data[len(data) // 2] ^= 4
open("damaged", "wb").write(data)
PY
expect 2 muster what-if damaged
says "damaged is damaged or cut off"
expect 2 muster simulate jobs.csv -c 1x4 -s fifo --continue-run damaged --no-save -q
says "damaged is damaged or cut off"
