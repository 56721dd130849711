// Printing for people: lines are broken at blanks where the terminal is narrower than they are.
#pragma once

#include <fmt/format.h>

#include "report/terminal.h"

namespace muster {

template <typename... Values>
void show(fmt::format_string<Values...> text, Values&&... values) {
  print_fitted(fmt::format(text, std::forward<Values>(values)...));
}

}  // namespace muster
