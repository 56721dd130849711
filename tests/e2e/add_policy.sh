#!/usr/bin/env bash
# docs/policies.md says that a policy is one file and one row, and nothing else. This takes both from the page, adds
# them to a copy of the sources, links the command with them, and runs the line that the page says works then.
source tests/e2e/story.sh
build=$(dirname "$command")
if ! command -v ninja >/dev/null || [[ ! -e $build/build.ninja ]]; then
  echo "needs the build folder of the command, and ninja"
  exit 77
fi

# block MARK: the code block below that mark of the page.
block() {
  awk -v mark="<!-- $1 -->" '$0 == mark { below = 1; next }
    below && /^```/ { if (inside) exit; inside = 1; next }
    inside' "$tree/docs/policies.md"
}
page_file=$(grep -oE 'src/policy/scheduling/[a-z_]+\.cc' "$tree/docs/policies.md" | head -1)
mkdir -p src/policy/scheduling
block "example: las" >"$page_file"
block "row: las" >row
[[ $(wc -l <row) == 1 ]] || fail "the page promises one row: $(cat row)"
# Where the other scheduling policies are.
awk '/^SCHEDULING\(/ && !done { while ((getline line < "row") > 0) print line; done = 1 } { print }' \
  "$tree/src/policy/rows.inc" >src/policy/rows.inc
[[ $(diff "$tree/src/policy/rows.inc" src/policy/rows.inc | grep -c '^[<>]') == 1 ]] || fail "more than one line changed"

tell "two files are compiled: the new one, and the table that reads the rows"
flags=(-std=c++20 -O0 -I"$folder/src" -I"$tree/src" -I"$tree/include")
cp "$tree/src/policy/table.cc" src/policy/
g++ "${flags[@]}" -c "$page_file" -o policy.o
g++ "${flags[@]}" -c src/policy/table.cc -o table.o
# The same link as the command's, with these two before all libraries, whose own table then does not count.
link=$(ninja -C "$build" -t commands muster | tail -1)
link=${link/ -o muster / -o \"$folder/grown\" }
link=${link/++ /++ -Wl,-z,muldefs \"$folder/policy.o\" \"$folder/table.o\" }
[[ $link == *table.o*grown* ]] || fail "the command is not linked as expected: $link"
(cd "$build" && bash -c "$link") || fail "it does not link"

tell "the line of the page"
muster trace generate poisson -p jobs=200 -p load=0.9 -q -o trace.csv
line=$(grep -oE '^muster simulate .*guide-las.*' "$tree/docs/policies.md")
read -ra words <<<"$line"
expect 0 "$folder/grown" "${words[@]:1}" -o guide -q
prints "guide-las"
expect 0 muster simulate trace.csv --cluster 16x8 --scheduling las:quantum=600 -o las -q
same guide/jobs.csv las/jobs.csv
expect 0 "$folder/grown" policies guide-las
prints "least attained service first"
prints "quantum = 300"
expect 2 "$folder/grown" simulate trace.csv -c 16x8 -s guide-la --no-save
says "did you mean 'guide-las'?"
