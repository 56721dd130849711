#!/usr/bin/env bash
# Jobs that have no place on the cluster: check and simulate say how many, why, and what to do.
source tests/e2e/story.sh
{
  echo 'job_id,submit_s,duration_s,gpus,partition,gpu_type'
  for i in $(seq 40); do echo "t$i,$i,100,1,,a100"; done
  for i in $(seq 8); do echo "p$i,$((50 + i)),100,1,reserch,"; done
  for i in $(seq 12); do echo "f$i,$((60 + i)),100,1,research,"; done
} >jobs.csv
printf '[[nodes]]\ncount = 2\ngpus = 8\npartition = "research"\n[[nodes]]\ngpus = 8\n' >cluster.toml

tell "the doctor finds them with the nearest name"
expect 1 muster trace check jobs.csv -c cluster.toml
prints "unknown-gpu-type (40 times)"
prints "unknown-partition (8 times)"
prints "no partition 'reserch'; did you mean 'research'?"
expect 0 muster trace check jobs.csv

tell "a run refuses them, and says so in the table, the summary and the report"
expect 0 muster simulate jobs.csv -c cluster.toml -o run -q
prints "warning: 48 of 60 jobs were refused"
says "warning: 40 of 60 jobs were refused: they ask for a GPU type"
says "warning: 8 of 60 jobs were refused: the cluster does not have their partition: 'reserch' (did you mean 'research'?)"
grep -q ',refused,no-partition' run/jobs.csv || fail "$(cat run/jobs.csv)"
expect 0 muster report run -o run.html
says "warning: 40 of 60 jobs were refused"
grep -q 'class="warning".*40 of 60 jobs were refused' run.html || fail "the page does not warn"
expect 0 muster compare jobs.csv -c cluster.toml -s fifo -s las -o compared -q
prints "warning: 48 of 60 jobs were refused with las"
[[ $(grep -c 'warning: 40 of 60' err) == 1 ]] || fail "one warning for all runs was expected"
expect 0 muster sweep jobs.csv -c cluster.toml -s fifo -s las --no-save -q
says "2 of 2 runs refused more than a few"

tell "where the cluster names no partitions, those of jobs do not matter"
expect 0 muster simulate jobs.csv -c 3x8:a100 -o whole -q
prints "finished"
[[ ! -s err ]] || fail "nothing was to be said"

tell "CPU cores and memory: jobs wait for them, are refused where no node has them, and --ignore-host forgets them"
{
  echo 'job_id,submit_s,duration_s,gpus,cpus,memory_gb'
  for i in $(seq 4); do echo "c$i,0,100,1,10,"; done
  for i in $(seq 8); do echo "m$i,0,100,1,,500"; done
} >host.csv
printf '[[nodes]]\ncount = 2\ngpus = 8\ncpus = 16\nmemory_gb = 256\n' >host.toml
expect 1 muster trace check host.csv -c host.toml
prints "too-much-host (8 times)"
for placement in consolidated scattered first-gpu count; do
  expect 0 muster simulate host.csv -c host.toml -p "$placement" -o host -q
  says "8 of 12 jobs were refused: they ask for more CPU cores or memory"
  [[ $(grep -c ',finished,' host/jobs.csv) == 4 ]] || fail "$(cat host/jobs.csv)"
  [[ $(awk -F, '$3 > 0 && /,finished,/' host/jobs.csv | wc -l) == 2 ]] || fail "two of four were to wait: $(cat host/jobs.csv)"
done
expect 0 muster simulate host.csv -c host.toml --ignore-host -o free -q
[[ $(grep -c ',finished,' free/jobs.csv) == 12 ]] || fail "$(cat free/jobs.csv)"
[[ ! -s err ]] || fail "nothing was to be said"
