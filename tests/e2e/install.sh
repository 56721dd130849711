#!/usr/bin/env bash
# What `make install` puts under a prefix works there, and still does when the prefix is moved: command, daemon, man page,
# completions, unit for systemd, clients for jobs.
set -euo pipefail
command -v cmake >/dev/null || { echo "needs cmake"; exit 77; }
build=$(dirname "$MUSTER")
folder=$(mktemp -d)
daemon=
finish() {
  [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon" || true; }
  rm -rf "$folder"
}
trap finish EXIT
fail() { echo "$*" >&2; exit 1; }
unset MUSTER_HOME MUSTER_STATE MUSTER_SERVER MUSTER_KEEPER

prefix=$folder/first/usr
cmake --install "$build" --prefix "$prefix" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "it cannot be installed"; }

# Staged as packagers do it: files below DESTDIR, words about the prefix.
DESTDIR=$folder/staged cmake --install "$build" --prefix /opt/muster >"$folder/log" 2>&1 || { cat "$folder/log"; fail "DESTDIR"; }
test -x "$folder/staged/opt/muster/bin/muster-keeper" || fail "nothing below DESTDIR"
grep -q '^ExecStart=/opt/muster/bin/muster serve' "$folder/staged/opt/muster/lib/systemd/system/muster.service" ||
  fail "the unit does not start what was installed"

unit=$prefix/lib/systemd/system/muster.service
grep -q "^ExecStart=$prefix/bin/muster serve" "$unit" || fail "the unit does not start what was installed"
config=$(sed -n 's/^ExecStart=.* --config //p' "$unit")
[ "$config" = "$prefix/etc/muster/muster.toml" ] || fail "the unit reads '$config'"
grep -q '^Delegate=yes' "$unit" || fail "the unit keeps its cgroup for itself"
echo 'scheduling = "las"' >"$config"
cmake --install "$build" --prefix "$prefix" >"$folder/log" 2>&1
grep -q las "$config" || fail "what an operator wrote is overwritten"
if command -v systemd-analyze >/dev/null; then
  systemd-analyze verify "$unit" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "the unit is not in order"; }
fi
if command -v man >/dev/null; then
  MANPATH=$prefix/share/man man muster 2>"$folder/log" | grep -q 'Schedule real jobs' || { cat "$folder/log"; fail "the man page"; }
  [ ! -s "$folder/log" ] || { cat "$folder/log"; fail "the man page has errors"; }
fi
bash -n "$prefix/share/bash-completion/completions/muster" || fail "the completion for bash"
bash -c 'source "$1"; COMP_WORDS=(muster tok); COMP_CWORD=1; COMP_LINE="muster tok"; COMP_POINT=10
  function=$(complete -p muster | sed "s/.*-F \([^ ]*\).*/\1/"); "$function" muster tok muster; [[ " ${COMPREPLY[*]} " == *token* ]]' \
  - "$prefix/share/bash-completion/completions/muster" || fail "bash does not complete 'muster tok'"
for file in zsh/site-functions/_muster fish/vendor_completions.d/muster.fish muster/presets/gavel.toml muster/python/muster_job/job.py \
  doc/muster/THIRD_PARTY.md; do
  test -s "$prefix/share/$file" || fail "share/$file is not there"
done

# Somewhere else, and from another folder.
mkdir "$folder/second"
mv "$folder/first/usr" "$folder/second/muster"
prefix=$folder/second/muster
cd "$folder"
"$prefix/bin/muster" simulate --preset blox --generate poisson:jobs=20 --cluster 2x4 -o result >"$folder/log" 2>&1 ||
  { cat "$folder/log"; fail "a preset is not found after the move"; }
"$prefix/bin/muster" serve --state "$folder/state" --fake-gpus 1 --config "$folder/staged/opt/muster/etc/muster/muster.toml" \
  --preset tiresias --pacing ticks:length=0.2 2>"$folder/daemon.log" &
daemon=$!
export MUSTER_STATE=$folder/state
for _ in $(seq 100); do "$prefix/bin/muster" status >/dev/null 2>&1 && break; sleep 0.1; done
printf 'import muster_job\njob = muster_job.join()\nfor step in job.steps(0, total=3): pass\nprint(job.scheduled)\n' >train.py
job=$(PYTHONPATH=$prefix/share/muster/python "$prefix/bin/muster" submit -- python3 train.py)
"$prefix/bin/muster" wait "$job" --timeout 60 || { cat "$folder/daemon.log"; fail "the job did not finish"; }
[ "$("$prefix/bin/muster" logs "$job")" = True ] || fail "the client for jobs did not find its scheduler"
if command -v g++ >/dev/null; then
  printf '#include <muster/job.h>\nint main() { muster_job::Job job; return job.next(1, 1) ? 1 : 0; }\n' >train.cc
  g++ -std=c++17 -Wall -Werror -fsyntax-only -I"$prefix/include" train.cc || fail "the header for jobs"
fi
