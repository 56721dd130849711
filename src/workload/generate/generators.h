// The table of generators: everything that draws a workload from a seed, or from a seed and a
// trace.
//
// One row per generator feeds `muster trace generate`, the workload section of TOML files, the
// documentation and the "did you mean" of errors. To add one: write its parameters and its factory
// in a file of its own, declare both in generator_rows.h and add the row in generators.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/params.h"
#include "base/result.h"
#include "base/symbols.h"
#include "workload/source.h"

namespace muster {

struct Generated {
  std::unique_ptr<JobSource> source;
  std::string notes;  // for people: what was measured or fitted on the way; often empty
};

struct Generator {
  std::string_view name;
  std::string_view sentence;
  std::string_view origin;  // the published system it comes from; empty for our own
  ParamList (*params)();
  // The symbol table must outlive the source.
  Result<Generated> (*make)(const Params&, Symbols&);
};

std::span<const Generator> generators();
// The generator of that name; its error lists the names.
Result<const Generator*> find_generator(std::string_view name);
// Finds it, checks the parameters, makes it.
Result<Generated> make_generator(std::string_view name, const ParamTexts& given, Symbols& symbols);

}  // namespace muster
