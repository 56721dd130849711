#!/usr/bin/env bash
# Someone without any trace goes the whole way: draws jobs, lets models learn, simulates Lucid, reads the report.
source tests/e2e/story.sh

tell "three weeks of jobs of a cluster with virtual clusters and users with habits; the last one is to be scheduled"
expect 0 muster trace generate venus-like -p jobs=9000 -p load=0.5 -p seed=7 -o all.csv
head -1 all.csv >history.csv
head -1 all.csv >jobs.csv
sed -n '2,6001p' all.csv >>history.csv
sed -n '6002,$p' all.csv >>jobs.csv
[[ $(wc -l <jobs.csv) == 3001 ]] || fail "$(wc -l jobs.csv)"
profiles=$tree/presets/venus_like_profiles.csv

tell "models of durations and arrivals"
expect 0 muster learn estimate history.csv jobs.csv --profiles "$profiles" --epoch 2020-08-31 --model duration.json \
  -o estimates.csv
prints "3000 estimates"
expect 0 muster learn forecast history.csv jobs.csv --epoch 2020-08-31 -o forecast.csv
prints "--set forecast.file=forecast.csv"
begin=$(grep -o 'forecast.begin=[0-9]*' out)
expect 0 muster learn explain duration.json
prints "duration = "
user=$(sed -n 2p jobs.csv | grep -o 'vc[A-Za-z0-9]*-u[0-9]*')
expect 0 muster learn explain duration.json "user=$user" gpu_num=8 hour=14
prints "is estimated at"

tell "Lucid, and what it is compared with"
lucid=(simulate jobs.csv --preset venus-like --estimates estimates.csv --set forecast.file=forecast.csv
  --set "$begin" -q)
expect 0 muster "${lucid[@]}" -o results/lucid
expect 0 muster "${lucid[@]}" --set profiling.nodes=0 -s fifo -p whole-nodes:backfill=false -o results/fifo
expect 0 muster "${lucid[@]}" --set profiling.nodes=0 -s qssf -p whole-nodes:backfill=false -o results/qssf
python3 - <<'PY'
import json
jct = {name: json.load(open(f"results/{name}/summary.json")) for name in ("lucid", "fifo", "qssf")}
for name, summary in jct.items():
    assert summary["jobs"] == summary["finished"] == 3000, (name, summary["jobs"], summary["finished"])
print("  average completion:", {name: round(s["avg_jct_s"]) for name, s in jct.items()})
assert jct["lucid"]["avg_queue_s"] < jct["fifo"]["avg_queue_s"], jct
PY

tell "the same run again, from its inputs, in another folder"
mkdir elsewhere
(cd elsewhere && expect 0 muster simulate --config ../results/lucid/inputs/run.toml -o again -q)
same results/lucid/jobs.csv elsewhere/again/jobs.csv

tell "the report shows what the estimates rest on, and one of them taken apart"
expect 0 muster report results/fifo results/qssf results/lucid --model duration.json \
  --explain "user=$user,gpu_num=8,hour=14" -o report.html
for text in "What the estimates are based on" "One answer taken apart" "class='band'" "<h4>gpu_num</h4>"; do
  grep -qF "$text" report.html || fail "the report lacks: $text"
done
expect 2 muster report results/lucid --model duration.json --explain "usr=ann" -o other.html
says "did you mean 'user'"

tell "an estimate for every job, or a message that names the first without one"
head -100 estimates.csv >some.csv
expect 2 muster simulate jobs.csv --preset venus-like --estimates some.csv --no-save
says "no row for job"

tell "Helios: its order by estimated GPU time, and nodes that sleep while few are needed"
sed -n '/^nodes = \[/,/^\]/p' "$tree/presets/venus-like.toml" >cluster.toml
helios=(simulate jobs.csv --preset helios -c cluster.toml --estimates estimates.csv -q)
expect 0 muster "${helios[@]}" -o results/helios
expect 0 muster "${helios[@]}" --set partitions.apart=false -o results/awake
expect 0 muster "${helios[@]}" --set partitions.apart=false --scaling energy-saving -o results/asleep
python3 - <<'PY'
import json
runs = {name: json.load(open(f"results/{name}/summary.json")) for name in ("helios", "awake", "asleep")}
for name, run in runs.items():
    assert run["jobs"] == run["finished"] == 3000, (name, run["jobs"], run["finished"])
awake, asleep = (runs[name]["powered_gpu_hours"] for name in ("awake", "asleep"))
print(f"  powered GPU hours: {awake:.0f}, with energy saving {asleep:.0f}")
assert asleep < 0.9 * awake, (awake, asleep)
assert asleep >= runs["asleep"]["gpu_hours"], runs["asleep"]
PY

tell "QSSF's own estimator, where the build has boosted trees"
if muster learn estimate history.csv jobs.csv --kind helios -o helios.csv >out 2>err; then
  [[ $(wc -l <helios.csv) == 3001 ]] || fail "$(wc -l helios.csv)"
else
  says "XGBoost"
fi
