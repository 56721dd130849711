#!/usr/bin/env bash
# Help teaches, lists are complete, and everything for scripts is valid JSON.
source tests/e2e/story.sh

expect 0 muster --version
prints "muster "
expect 0 muster --help
prints "First steps:"
mapfile -t commands < <(sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p' out)
((${#commands[@]} >= 9)) || fail "subcommands: ${commands[*]}"
for name in "${commands[@]}"; do
  expect 0 muster "$name" --help
  grep -q "Examples:" out || grep -q "^Subcommands:" out || fail "muster $name --help has no examples"
done

tell "placeholders"
mapfile -t commands < <(muster reference commands | sed -n 's/^## muster //p')
((${#commands[@]} >= 30)) || fail "commands: ${commands[*]}"
for name in "${commands[@]}"; do
  read -ra words <<<"$name"
  expect 0 muster "${words[@]}" --help
  # The parser's own names of types and checks: JOB:NONNEGATIVE, N:INT in [1 - 64], SHELL:{bash,zsh}
  ! grep -E '^  -[^ ]+ [^ ]*:|^  -[^ ]+ (U?INT|FLOAT|BOOLEAN)\b' out || fail "muster $name --help shows the parser's types"
done

tell "policies"
expect 0 muster policies
for name in accept-all fifo las srtf tiresias consolidated synergy look-ahead rounds locality poisson blox-simple; do
  prints "  $name"
done
expect 0 muster policies las
prints "boost_after = inf"
expect 0 muster policies --json
python3 - <<'PY'
import json
rows = json.load(open("out"))
kinds = {row["kind"] for row in rows}
assert kinds == {"admission", "scheduling", "placement", "scaling", "selector", "pacing", "perf", "generator",
                 "accounting", "progress", "execution", "errors"}, kinds
las = next(row for row in rows if row["name"] == "las")
assert las["parameters"][0]["name"] == "service" and las["parameters"][0]["choices"] == ["gpu-seconds", "seconds"]
PY

tell "experiments"
expect 0 muster reproduce
prints "figure6"
