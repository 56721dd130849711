#!/usr/bin/env bash
# Published runs, compared figure by figure, and job by job where the golden values are on this machine.
source tests/e2e/story.sh
export MUSTER_SHARED=${MUSTER_SHARED:-$tree/../shared}

expect 0 muster reproduce blox runs --json -q
python3 - <<'PY'
import json
(experiment,) = json.load(open("out"))
assert experiment["within_tolerance"] is True
compared = [run["jobs"]["compared"] for run in experiment["runs"] if "jobs" in run]
print("  jobs compared:", sum(compared))
PY

tell "a difference is told, and makes the status 1"
mkdir -p home/experiments/blox home/presets
cp "$tree/presets/blox.toml" home/presets/
sed 's/avg_jct_s = 67114.535/avg_jct_s = 67115.535/' "$tree/experiments/blox/runs.toml" >home/experiments/blox/runs.toml
expect 1 env MUSTER_HOME="$PWD/home" "$command" reproduce blox -q
prints "-1.000, "

tell "without the golden files the figures are still compared, and what is missing is named"
expect 0 env MUSTER_SHARED="$PWD/nowhere" "$command" reproduce blox runs -q
prints "not compared: golden/blox/runs"
prints "runs not possible here"
prints "the recorded jobs are not on this machine"

tell "Lucid without its data: every run is named as not possible, none is counted"
expect 0 env MUSTER_SHARED="$PWD/nowhere" "$command" reproduce lucid -q
prints "0 of 0 runs within tolerance"
prints "data/lucid/venus_sept_jobs.csv.gz is not on this machine"

if [[ ! -d $MUSTER_SHARED/golden/gavel || ! -d $MUSTER_SHARED/golden/muri || ! -d $MUSTER_SHARED/data/tiresias ]]; then
  echo "the rest needs $MUSTER_SHARED"
  exit 0
fi

tell "where jobs are recorded they are compared, and where not, that is what is said"
expect 0 muster reproduce gavel exact -q
[[ $(tail -1 out) =~ ([0-9]+)\ of\ ([0-9]+)\ jobs\ equal ]] || fail "no jobs were compared"
((BASH_REMATCH[1] == BASH_REMATCH[2] && BASH_REMATCH[1] > 1000)) || fail "$(tail -1 out)"
echo "  Gavel: $(tail -1 out)"
expect 0 muster reproduce tiresias muri_traces -q
[[ $(tail -1 out) =~ ([0-9]+)\ of\ ([0-9]+)\ jobs\ equal ]] || fail "no jobs were compared"
((BASH_REMATCH[1] == BASH_REMATCH[2] && BASH_REMATCH[1] > 5000)) || fail "$(tail -1 out)"
echo "  Tiresias: $(tail -1 out)"
expect 0 muster reproduce tiresias sixty_jobs -q
prints "no single jobs are recorded to compare with"
