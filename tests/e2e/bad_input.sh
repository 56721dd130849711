#!/usr/bin/env bash
# Everything that a user can get wrong ends with a message that says what, where and how to go on.
source tests/e2e/story.sh
printf 'job_id,submit_s,duration_s,gpus\n1,0,10,1\n' >good.csv

tell "files"
expect 2 muster simulate missing.csv -c 2x4
says missing.csv
mkdir folder.csv
expect 2 muster simulate folder.csv -c 2x4
says folder.csv
if [[ $EUID != 0 ]]; then
  cp good.csv secret.csv && chmod 000 secret.csv
  expect 2 muster simulate secret.csv -c 2x4
  says secret.csv
fi
: >empty.csv
expect 2 muster simulate empty.csv -c 2x4
says empty.csv
printf 'job_id,submit_s,duration_s,gpus\n' >header.csv
expect 2 muster simulate header.csv -c 2x4
says header.csv
absent results

tell "numbers in traces: file, line and what was found"
for row in '1,0,nan,1' '1,0,-5,1' '1,0,1e999,1' '1,inf,5,1' '1,0,5,99999999999999999999' '1,0,five,1' '1,0,5' '1,0,5,0'; do
  printf 'job_id,submit_s,duration_s,gpus\n0,0,1,1\n%s\n' "$row" >bad.csv
  expect 2 muster simulate bad.csv -c 2x4
  says "bad.csv:3"
  expect 0 muster simulate bad.csv -c 2x4 --skip-bad --no-save
done

tell "names: the nearest is suggested"
expect 2 muster simulate good.csv -c 2x4 -s lass
says "did you mean 'las'?"
expect 2 muster simulate good.csv -c 2x4 -s las:quantm=5
says "did you mean 'quantum'?"
expect 2 muster simulate good.csv -c 2x4 -s las:quantum=fast
says "must be a number"
expect 2 muster simulate good.csv -c 2x4 -s las:quantum=-1
says "at least"
expect 2 muster simulate good.csv -c 2x4 -p consolidate
says "did you mean 'consolidated'?"
expect 2 muster simulate good.csv -c 2x4 -a accept
says "admission policy 'accept'"
expect 2 muster simulate good.csv -c 2x4 --pacing round
says "did you mean 'rounds'?"
expect 2 muster simulate good.csv -c 2x4 --perf localty
says "did you mean 'locality'?"
expect 2 muster simulate -g poison -c 2x4
says "did you mean 'poisson'?"
expect 2 muster simulate good.csv -c 2x4 --preset blx
says "did you mean 'blox'?"
expect 2 muster simulate good.csv -c 2x4 --metrics avg_jtc_s
says "did you mean 'avg_jct_s'?"
expect 2 muster simulate good.csv -c 2x4 --format phily-csv
says "did you mean"
expect 2 muster policies lass
says "did you mean 'las'?"
expect 2 muster reproduce bloks
says "did you mean 'blox'?"
expect 2 muster simulat
says "did you mean 'simulate'?"
expect 2 muster simulat --help
says "did you mean 'simulate'?"
expect 2 muster serve --help
says "no command 'serve'; known: demo, simulate"
expect 2 muster trace chek --help
says "no \`muster trace\` command 'chek'; did you mean 'check'?"
expect 2 muster simulate --schedulng fifo
says "did you mean '--scheduling'?"
expect 2 muster simulate good.csv -c 2x4 --set restart.restrt=5
says "did you mean 'restart'?"

tell "clusters"
for shape in 0x4 4x0 x 4x4x4 -1x4 99999999x8 2x4:; do
  expect 2 muster simulate good.csv "--cluster=$shape" --no-save
  [[ -s err ]] || fail "nothing was said about $shape"
done
expect 2 muster simulate good.csv -c missing.toml
says missing.toml
printf '[[nodes]]\ncount = 2\ngpu = 4\n' >cluster.toml
expect 2 muster simulate good.csv -c cluster.toml
says "did you mean 'gpus'?"
expect 2 muster simulate good.csv
says "no cluster"

tell "descriptions"
printf 'cluster = "2x4"\n\n[workload]\ntrase = "x"\n' >run.toml
expect 2 muster simulate --config run.toml
says "run.toml, line 4"
says "did you mean 'trace'?"
printf 'cluster = \n' >run.toml
expect 2 muster simulate --config run.toml
says "run.toml, line 1"
expect 2 muster simulate --config nowhere.toml
says nowhere.toml
expect 2 muster simulate -c 2x4
says "no workload"
expect 2 muster simulate good.csv -g poisson -c 2x4
says "choose one"
expect 2 muster simulate -g poisson:jobs=0 -c 2x4
says "never ends"
expect 2 muster simulate good.csv -c 2x4 --measure 9
says "FIRST-LAST"
expect 2 muster simulate good.csv -c 2x4 --node-mtbf -5
says "node_mtbf"
expect 2 muster simulate good.csv -c 2x4 --restart-cost nan
says "must be a number"
expect 2 muster simulate good.csv -c 2x4 --seed -1
says "seed"
expect 2 muster simulate good.csv -c 2x4 --selector look-ahead
says "policy set"
expect 2 muster compare good.csv -c 2x4 -s fifo
says "nothing to compare"
expect 2 muster sweep good.csv -c 2x4 -s fifo --seeds 3-1
says "3-1"
expect 2 muster sweep good.csv -c 2x4 -s fifo --load 0 --no-save
says "expected a number above 0"
expect 2 muster sweep good.csv -c 2x4 -s fifo -s las --baseline lass
says "did you mean 'las'?"
expect 2 muster sweep good.csv -c 2x4 -s fifo --save-at 3 --no-save
says "leave out --no-save"
expect 2 muster report nowhere
says nowhere
expect 2 muster
prints "First steps"
absent results

tell "seeds where nothing draws: said, and run once"
expect 0 muster sweep good.csv -c 2x4 -s fifo -s las --seeds 5 --no-save -q
says "nothing in these runs draws"
grep -q "±" out && fail "an interval over nothing"
expect 0 muster sweep -g poisson:jobs=30 -c 2x4 -s fifo -s las --seeds 3 --no-save -q
prints "±"

tell "results that cannot be written"
expect 2 muster simulate good.csv -c 2x4 -o good.csv/results
says "good.csv"
