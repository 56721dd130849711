#!/usr/bin/env bash
# scripts/layout-check finds what it is there for: a small tree of sources is broken rule by rule.
set -euo pipefail
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
# times N LINE: the line so many times.
times() { for ((i = 0; i < $1; ++i)); do echo "$2"; done; }

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/scripts \
  "$tree"/src/{model,perf,solve,learn,policy,engine,agent,backend,artifacts/{a,b},report,run/{config,sweep},daemon/outside} \
  "$tree"/{tests/{model,e2e},python/muster,bench,fuzz}
cp scripts/layout-check "$tree/scripts/"
echo 'set(MUSTER_MODULES model perf solve learn policy engine agent backend artifacts report run daemon)' >"$tree/CMakeLists.txt"
echo '#include "model/job.h"' >"$tree/src/engine/engine.cc"
{ echo '// Long: a table.'; echo 'int table() {'; times 70 '  f();'; echo '}'; } >"$tree/src/perf/table.cc"
# What is made an exception of: what a policy in another process says, and what the engine reports of the truth.
printf '#include "policy/outside/wire.h"\n#include "policy/failure.h"\n' >"$tree/src/daemon/outside/wire.cc"
echo 'report(job.true_duration);' >"$tree/src/engine/turn_report.cc"
# In tests 400 lines are fine, and what src/ must not know.
times 400 '#include <fstream>' >"$tree/tests/model/model_test.cc"
"$tree/scripts/layout-check" >/dev/null

# refuses RULE FILE TEXT: with that text in that file the rule is broken, and only that one.
refuses() {
  printf '%b' "$3" >"$tree/$2"
  if "$tree/scripts/layout-check" "$1" >"$tree/out" 2>&1; then
    echo "rule $1 does not see $2"
    exit 1
  fi
  grep -q "^$2:" "$tree/out" || { cat "$tree/out"; exit 1; }
  rm "$tree/$2"
  "$tree/scripts/layout-check" >/dev/null
}
refuses order src/model/bad.h '#include "engine/engine.h"\n'
refuses order src/run/config/bad.h '#include "run/sweep/sweep.h"\n'
refuses order src/run/bad.h '\n'
refuses order src/artifacts/a/bad.h '#include "artifacts/b/x.h"\n'
refuses inputs src/perf/bad.cc '#include <fstream>\n'
refuses inputs src/model/bad.h '#include <filesystem>\n'
refuses inputs src/perf/bad.cc '#include "base/csv.h"\n'
refuses inputs src/policy/bad.cc '#include "base/out_file.h"\n'
refuses inputs src/solve/bad.h '#include "model/job.h"\n'
refuses inputs src/learn/bad.h '#include "model/cluster_spec.h"\n'
refuses inputs src/policy/bad.cc '#include <fstream>\n'
refuses inputs src/agent/bad.h '#include "policy/scheduling.h"\n'
refuses inputs src/agent/bad.h '#include "engine/engine.h"\n'
refuses inputs src/backend/bad.h '#include "policy/scheduling.h"\n'
refuses inputs src/report/bad.h '#include "engine/engine.h"\n'
refuses inputs src/daemon/bad.h '#include "policy/failure.h"\n'
refuses inputs src/daemon/outside/bad.h '#include "policy/scheduling.h"\n'
refuses truth src/policy/bad.cc 'return job.spec.true_duration;\n'
refuses truth src/policy/bad.cc '#include "model/truth.h"\n'
refuses truth src/engine/bad.cc 'return as_it_is(job);\n'
refuses papers src/engine/bad.cc '// as Gavel does\n'
refuses papers src/model/bad.h '// of the Philly trace\n'
refuses papers src/solve/bad.cc '// the step of ECOS\n'
refuses lines src/model/bad.cc "$(times 401 '//')\n"
refuses lines tests/model/bad_test.cc "$(times 401 '//')\n"
refuses lines tests/e2e/bad.py "$(times 401 '#')\n"
refuses lines python/muster/bad.py "$(times 401 '#')\n"
refuses lines bench/bad.h "$(times 401 '//')\n"
refuses lines fuzz/bad.cc "$(times 401 '//')\n"
refuses lines scripts/bad "$(times 401 '#')\n"
refuses functions tests/model/bad_test.cc "TEST(A, B) {\n$(times 60 '  g();')\n}\n"
refuses functions python/muster/bad.py "def f():\n$(times 60 '    g()')\n"
refuses functions scripts/bad "#!/usr/bin/env python3\ndef f():\n$(times 60 '    g()')\n"
refuses functions src/model/bad.cc "void f() {\n$(times 60 '  g();')\n}\n"
refuses functions src/model/bad.cc "struct A {\n  void f() {\n$(times 60 '    g("}");')\n  }\n};\n"
echo "layout-check refuses what it should"
