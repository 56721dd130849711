// The jobs of a trace as columns: one list of names, as in Muster's own CSV, for both directions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/symbols.h"
#include "model/job_spec.h"

namespace muster::python {

struct NumberColumn {
  const char* name;
  bool required;
  bool whole;
  double (*get)(const JobSpec&);
  void (*set)(JobSpec&, double);
};

struct TextColumn {
  const char* name;
  Symbol JobSpec::*symbol;
};

std::span<const NumberColumn> number_columns();
// All but job_id, which is no symbol.
std::span<const TextColumn> text_columns();

// The steps of `later` as text, as in 7200:8;9000:5, and back; empty: the text is none.
inline constexpr const char* kStepsColumn = "later";
std::string steps_text(const JobSpec& job);
std::optional<std::vector<ValueStep>> steps_from(const std::string& text);

}  // namespace muster::python
