#!/usr/bin/env bash
# Everything that a user can get wrong ends with a message that says what, where and how to go on.
source tests/e2e/story.sh

# wrong ARGUMENT...: the command refuses them, and every option that its message names is one that this command has.
# What stands in backquotes is another command's line, and is checked as that.
wrong() {
  expect 2 muster "$@"
  local words=() word option line
  for word in "$@"; do
    [[ $word == -* || ${#words[@]} == 2 ]] && break
    words+=("$word")
  done
  while IFS= read -r option; do
    [[ " $* " == *" $option"* ]] || has_option "$option" "${words[@]}"
  done < <(sed 's/`[^`]*`//g' err | grep -oE -- '--[a-z][a-z-]+')
  while IFS= read -r line; do
    read -ra words <<<"$line"
    for option in "${words[@]}"; do
      [[ $option != --* ]] || has_option "$option" "${words[@]:1:2}"
    done
  done < <(grep -oE '`muster [^`]*`' err | tr -d '`')
}

# has_option OPTION COMMAND [PART]
has_option() {
  { muster "$2" "${3:-}" --help || muster "$2" --help; } >help 2>/dev/null
  grep -qE -- "$1([^a-z-]|\$)" help || fail "a remedy names $1, which \`muster $2\` does not have"
}

printf 'job_id,submit_s,duration_s,gpus\n1,0,10,1\n' >good.csv

tell "files"
wrong simulate missing.csv -c 2x4
says missing.csv
mkdir folder.csv
wrong simulate folder.csv -c 2x4
says folder.csv
if [[ $EUID != 0 ]]; then
  cp good.csv secret.csv && chmod 000 secret.csv
  wrong simulate secret.csv -c 2x4
  says secret.csv
fi
: >empty.csv
wrong simulate empty.csv -c 2x4
says empty.csv
printf 'job_id,submit_s,duration_s,gpus\n' >header.csv
wrong simulate header.csv -c 2x4
says header.csv
absent results

tell "numbers in traces: file, line and what was found"
for row in '1,0,nan,1' '1,0,-5,1' '1,0,1e999,1' '1,inf,5,1' '1,0,5,99999999999999999999' '1,0,five,1' '1,0,5' '1,0,5,0'; do
  printf 'job_id,submit_s,duration_s,gpus\n0,0,1,1\n%s\n' "$row" >bad.csv
  wrong simulate bad.csv -c 2x4
  says "bad.csv:3"
  expect 0 muster simulate bad.csv -c 2x4 --skip-bad --no-save
done

tell "names: the nearest is suggested"
wrong simulate good.csv -c 2x4 -s lass
says "did you mean 'las'?"
wrong simulate good.csv -c 2x4 -s las:quantm=5
says "did you mean 'quantum'?"
wrong simulate good.csv -c 2x4 -s las:quantum=fast
says "must be a number"
wrong simulate good.csv -c 2x4 -s las:quantum=-1
says "at least"
wrong simulate good.csv -c 2x4 -p consolidate
says "did you mean 'consolidated'?"
wrong simulate good.csv -c 2x4 -a accept
says "admission policy 'accept'"
wrong simulate good.csv -c 2x4 --pacing round
says "did you mean 'rounds'?"
wrong simulate good.csv -c 2x4 --perf localty
says "did you mean 'locality'?"
wrong simulate -g poison -c 2x4
says "did you mean 'poisson'?"
wrong simulate good.csv -c 2x4 --preset blx
says "did you mean 'blox'?"
wrong simulate good.csv -c 2x4 --metrics avg_jtc_s
says "did you mean 'avg_jct_s'?"
wrong simulate good.csv -c 2x4 --format phily-csv
says "did you mean"
wrong policies lass
says "did you mean 'las'?"
wrong reproduce bloks
says "did you mean 'blox'?"
wrong simulat
says "did you mean 'simulate'?"
wrong simulat --help
says "did you mean 'simulate'?"
wrong shedule --help
says "no command 'shedule'"
wrong trace chek --help
says "no \`muster trace\` command 'chek'; did you mean 'check'?"
wrong simulate --schedulng fifo
says "did you mean '--scheduling'?"
wrong simulate good.csv -c 2x4 --set restart.restrt=5
says "did you mean 'restart'?"

tell "clusters"
for shape in 0x4 4x0 x 4x4x4 -1x4 99999999x8 2x4:; do
  wrong simulate good.csv "--cluster=$shape" --no-save
  [[ -s err ]] || fail "nothing was said about $shape"
done
wrong simulate good.csv -c missing.toml
says missing.toml
printf '[[nodes]]\ncount = 2\ngpu = 4\n' >cluster.toml
wrong simulate good.csv -c cluster.toml
says "did you mean 'gpus'?"
wrong simulate good.csv
says "no cluster"

tell "descriptions"
printf 'cluster = "2x4"\n\n[workload]\ntrase = "x"\n' >run.toml
wrong simulate --config run.toml
says "run.toml, line 4"
says "did you mean 'trace'?"
printf 'cluster = \n' >run.toml
wrong simulate --config run.toml
says "run.toml, line 1"
wrong simulate --config nowhere.toml
says nowhere.toml
wrong simulate -c 2x4
says "no workload"
wrong simulate good.csv -g poisson -c 2x4
says "choose one"
wrong simulate -g poisson:jobs=0 -c 2x4
says "never ends"
wrong simulate good.csv -c 2x4 --measure 9
says "FIRST-LAST"
wrong simulate good.csv -c 2x4 --node-mtbf -5
says "node_mtbf"
wrong simulate good.csv -c 2x4 --restart-cost nan
says "must be a number"
wrong simulate good.csv -c 2x4 --seed -1
says "seed"
wrong simulate good.csv -c 2x4 --selector look-ahead
says "policy set"
wrong compare good.csv -c 2x4 -s fifo
says "nothing to compare"
wrong sweep good.csv -c 2x4 -s fifo --seeds 3-1
says "3-1"
wrong sweep good.csv -c 2x4 -s fifo --load 0 --no-save
says "expected a number above 0"
wrong sweep good.csv -c 2x4 -s fifo -s las --baseline lass
says "did you mean 'las'?"
wrong sweep good.csv -c 2x4 -s fifo --save-at 3 --no-save
says "leave out --no-save"
wrong report nowhere
says nowhere
wrong
prints "First steps"
absent results

tell "remedies of what several commands share"
printf 'job_id,submit_s,duration_s,gpus\n0,0,1,1\n1,0,five,1\n' >bad.csv
printf 'job_id,submit_s,duration_s,gpus\n0,-5,1,1\n' >early.csv
printf 'what is this\n' >strange.csv
for file in bad early strange; do
  wrong simulate $file.csv -c 2x4
  wrong compare $file.csv -c 2x4 -s fifo -s las
  wrong sweep $file.csv -c 2x4 -s fifo --no-save
done
for file in bad strange; do
  wrong trace info $file.csv
  wrong trace convert $file.csv out.csv
  wrong trace generate fit -p trace=$file.csv -o out.csv
  wrong learn table $file.csv -o out.csv
  wrong learn estimate $file.csv good.csv -o out.csv
done
mkdir -p mine/las mine/fifo && echo mine >mine/las/thesis.tex
wrong simulate good.csv -c 2x4 -o mine/las
wrong compare good.csv -c 2x4 -s fifo -s las -o mine
wrong demo -n 10 -o mine
expect 0 muster compare good.csv -c 2x4 -s fifo -s las -o mine --force -q
present mine/las.old/thesis.tex
echo mine >mine/las/thesis.tex
expect 0 muster compare good.csv -c 2x4 -s fifo -s srtf -o mine --force -q
present mine/las.old-2/thesis.tex
absent mine/las

tell "a preset on another cluster says what to name"
wrong simulate good.csv -c 2x4 --preset lucid
says "no partition 'vc8Gr'; there are none to choose from"
says "--set profiling.nodes=0"
expect 0 muster simulate good.csv -c 2x4 --preset lucid --set profiling.nodes=0 --no-save -q
printf '[[nodes]]\ncount = 4\ngpus = 8\npartition = "a"\n[[nodes]]\ncount = 4\ngpus = 8\npartition = "b"\n' >parts.toml
printf 'job_id,submit_s,duration_s,gpus,partition\n1,0,10,1,a\n2,5,10,1,b\n' >parts.csv
wrong simulate parts.csv -c parts.toml --preset lucid
says "known: a, b"
expect 0 muster simulate parts.csv -c parts.toml --preset lucid --set profiling.donors=a,b --set profiling.lender=a \
  --no-save -q

tell "names in other spellings are understood"
expect 0 muster simulate good.csv -c 2x4 -s FIFO -p Consolidated --metrics utilisation,AVG_JCT_S --no-save -q
prints "utilisation"
expect 0 muster policies LAS
prints "las (scheduling policy)"
expect 0 muster sweep -g Poisson:jobs=30,load=0.5 -c 2x4 -s Fifo --rates 1,2 --utilisation-threshold 0.9 --no-save -q
expect 0 muster simulate good.csv -c 2x4 -s dlas-gpu:limits=3250,7200 --no-save -q

tell "seeds where nothing draws: said, and run once"
expect 0 muster sweep good.csv -c 2x4 -s fifo -s las --seeds 5 --no-save -q
says "nothing in these runs is random"
grep -q "±" out && fail "an interval over nothing"
expect 0 muster sweep -g poisson:jobs=30 -c 2x4 -s fifo -s las --seeds 3 --no-save -q
prints "±"

tell "results that cannot be written"
wrong simulate good.csv -c 2x4 -o good.csv/results
says "good.csv"
