// How help looks: like the parser's own, with one blank line between groups, and placeholders and
// defaults that a person can read.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace muster {

std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace muster
