#!/usr/bin/env bash
# scripts/layout-check finds what it is there for: a small tree of sources is broken rule by rule.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
# times N LINE: the line so many times.
times() { for ((i = 0; i < $1; ++i)); do echo "$2"; done; }

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/scripts \
  "$tree"/src/{model,perf,solve,learn,policy,engine,agent,backend,artifacts/{a,b},report,run/{config,sweep},daemon/outside}
cp scripts/layout-check "$tree/scripts/"
echo 'set(MUSTER_MODULES model perf solve learn policy engine agent backend artifacts report run daemon)' >"$tree/CMakeLists.txt"
echo '#include "model/job.h"' >"$tree/src/engine/engine.cc"
{ echo '// Long: a table.'; echo 'int table() {'; times 70 '  f();'; echo '}'; } >"$tree/src/perf/table.cc"
# What is made an exception of: what a policy in another process says, and what the engine reports of the truth.
printf '#include "policy/outside/wire.h"\n#include "policy/failure.h"\n' >"$tree/src/daemon/outside/wire.cc"
echo 'report(job.true_duration);' >"$tree/src/engine/turn_report.cc"
"$tree/scripts/layout-check" >/dev/null

# refuses RULE FILE TEXT: with that text in that file the rule is broken, and only that one.
refuses() {
  printf '%b' "$3" >"$tree/src/$2"
  if "$tree/scripts/layout-check" "$1" >"$tree/out" 2>&1; then
    echo "rule $1 does not see $2"
    exit 1
  fi
  grep -q "src/$2:" "$tree/out" || { cat "$tree/out"; exit 1; }
  rm "$tree/src/$2"
  "$tree/scripts/layout-check" >/dev/null
}
refuses order model/bad.h '#include "engine/engine.h"\n'
refuses order run/config/bad.h '#include "run/sweep/sweep.h"\n'
refuses order run/bad.h '\n'
refuses order artifacts/a/bad.h '#include "artifacts/b/x.h"\n'
refuses inputs perf/bad.cc '#include <fstream>\n'
refuses inputs model/bad.h '#include <filesystem>\n'
refuses inputs solve/bad.h '#include "model/job.h"\n'
refuses inputs learn/bad.h '#include "model/cluster_spec.h"\n'
refuses inputs policy/bad.cc '#include <fstream>\n'
refuses inputs agent/bad.h '#include "policy/scheduling.h"\n'
refuses inputs agent/bad.h '#include "engine/engine.h"\n'
refuses inputs backend/bad.h '#include "policy/scheduling.h"\n'
refuses inputs report/bad.h '#include "engine/engine.h"\n'
refuses inputs daemon/bad.h '#include "policy/failure.h"\n'
refuses inputs daemon/outside/bad.h '#include "policy/scheduling.h"\n'
refuses truth policy/bad.cc 'return job.spec.true_duration;\n'
refuses truth policy/bad.cc '#include "model/truth.h"\n'
refuses truth engine/bad.cc 'return as_it_is(job);\n'
refuses papers engine/bad.cc '// as Gavel does\n'
refuses lines model/bad.cc "$(times 401 '//')\n"
refuses functions model/bad.cc "void f() {\n$(times 60 '  g();')\n}\n"
refuses functions model/bad.cc "struct A {\n  void f() {\n$(times 60 '    g("}");')\n  }\n};\n"
echo "layout-check refuses what it should"
