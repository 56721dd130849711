#!/usr/bin/env bash
# A policy in a file of one's own, against an installed Muster that was moved after it was installed.
source tests/e2e/story.sh

tell "install into a prefix, and move it"
build=$(dirname "$command")
cmake --install "$build" --prefix "$PWD/prefix" >install.log 2>&1 || fail "$(tail -5 install.log)"
mv prefix moved
command=$PWD/moved/bin/muster
unset MUSTER_HOME

tell "the policy of the guide, in a file outside of the tree"
{
  echo '#include "policy/plugin.h"'
  sed -n '/<!-- example: las -->/,/^```$/p' "$tree/docs/policies.md" | sed '1,2d;$d'
  grep '^MUSTER_PLUGIN' "$tree/docs/policies.md"
} >my.cc
expect 0 muster build-policy my.cc
prints "wrote my.so"
present my.so

tell "it is listed, described and run like the others, and schedules like the built-in las"
expect 0 muster policies guide-las --plugin my.so
prints "quantum = 300"
for policy in guide-las las; do
  expect 0 muster simulate -g poisson:jobs=300 -c 4x8 --pacing rounds:length=300 --plugin my.so -s "$policy" -o "$policy" -q
done
same guide-las/jobs.csv las/jobs.csv
expect 0 env MUSTER_PLUGINS=my.so "$command" simulate -g poisson:jobs=10 -c 4x8 -s guide-las:quantum=60 -o again -q
expect 0 muster report guide-las las -o report.html
present report.html

tell "what is wrong is said"
expect 2 muster simulate -g poisson:jobs=10 -c 4x8 -s guide-las -o none -q
says "guide-las"
expect 2 muster policies --plugin nowhere.so
says "there is no such file"
echo 'int nothing;' >nothing.cc
expect 0 muster build-policy nothing.cc
expect 2 muster policies --plugin nothing.so
says "MUSTER_PLUGIN"
echo 'broken' >broken.cc
expect 1 muster build-policy broken.cc
says "does not compile"
expect 2 muster policies --plugin my.so --plugin my.so
says "another name"

tell "a library for other headers is refused"
echo '// changed' >>moved/include/muster/policy/view.h
expect 2 muster policies --plugin my.so
says "another version of Muster"
