#!/usr/bin/env bash
# Why jobs waited: the longest waits of a run, and the story of one job. What is suggested is worth asking about.
source tests/e2e/story.sh
muster simulate -g poisson:jobs=400,load=1 -c 2x8 -s fifo -o run -q >out

tell "without a job: the ten longest waits, which are those of jobs.csv"
expect 0 muster explain run --json
python3 - <<'PY'
import csv, json
listed = json.load(open("out"))
rows = sorted(csv.DictReader(open("run/jobs.csv")), key=lambda row: (-float(row["queue_s"]), int(row["job_id"])))
assert [job["id"] for job in listed] == [int(row["job_id"]) for row in rows[:10]], listed
for job, row in zip(listed, rows):
    assert job["waited_s"] == float(row["queue_s"]) > 0 and 0 < job["because_s"] <= job["waited_s"], (job, row)
    assert job["because"], job
open("quick", "w").write(next(row["job_id"] for row in rows if float(row["queue_s"]) == 0))
PY
expect 0 muster explain run
prints "could not start: fewer GPUs are free than it needs"

tell "the command that the list suggests tells of a job that waited"
suggested=$(grep -oE "muster explain run '#[0-9]+'" out) || fail "no job is suggested"
eval "expect 0 $suggested"
prints "why it waited"

tell "a job that never waited, and one that does not exist, lead back to the list"
expect 0 muster explain run "$(cat quick)"
prints "\`muster explain run\` lists those that waited longest"
expect 2 muster explain run nobody
says "\`muster explain run\` lists those that waited longest"

tell "a run in which nobody waited"
muster simulate -g poisson:jobs=5,load=0.1 -c 8x8 -o idle -q >out
expect 0 muster explain idle
prints "No job waited."
