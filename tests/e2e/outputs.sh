#!/usr/bin/env bash
# Whatever an option that names a file is given: a plain file is replaced whole, anything else is written to or
# refused, and never replaced.
source tests/e2e/story.sh

# refuse COMMAND...: it fails, and says so with its status.
refuse() {
  local status=0
  "$@" >out 2>err || status=$?
  [[ $status == [12] ]] || fail "status $status instead of 1 or 2: $*"
}
muster simulate -g poisson:jobs=60 -c 2x8 -s las -o run -q >/dev/null
muster trace generate poisson -p jobs=60 -q -o jobs.csv >/dev/null 2>&1
muster learn table jobs.csv -o table.csv >/dev/null
saved=(simulate -g poisson:jobs=60 -c 2x8 -s gavel-max-min-fairness -p first-gpu --pacing rounds --no-save -q)

# Every command that writes a file that the user names; it goes to "$target".
outputs=(
  'report run -o "$target"'
  'report run --perfetto "$target"'
  'learn table jobs.csv -o "$target"'
  'learn train table.csv --target duration -o "$target"'
  'trace convert jobs.csv "$target"'
  'trace generate poisson -p jobs=60 -q -o "$target"'
  '"${saved[@]}" --save-run "$target" --save-at 30'
)

for output in "${outputs[@]}"; do
  tell "$output"
  target=plain
  echo old >plain
  eval "expect 0 muster $output"
  grep -qx old plain && fail "the old file is still there"
  ln -s kept link
  echo old >kept
  target=link
  eval "expect 0 muster $output"
  [[ -L link ]] || fail "the link was replaced"
  grep -qx old kept && fail "what the link points to is still the old file"
  mkdir folder
  target=folder
  eval "refuse muster $output"
  says "folder"
  [[ -d folder ]] || fail "the folder was replaced"
  mkfifo pipe
  cat pipe >came &
  target=pipe
  eval "expect 0 muster $output"
  wait $!
  [[ -p pipe ]] || fail "the pipe was replaced"
  [[ -s came ]] || fail "nothing came through the pipe"
  if [[ -c /dev/full ]]; then
    ln -s /dev/full full
    target=full
    eval "refuse muster $output"
    says "No space left"
    [[ -L full && -c /dev/full ]] || fail "the device was replaced"
  fi
  [[ -z $(find . -name '*.partial*' -o -name '*.new') ]] || fail "left behind: $(ls)"
  rm -rf plain link kept folder pipe came full
done
