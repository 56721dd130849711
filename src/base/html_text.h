// Text that goes into an HTML page.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// Escapes the five characters that have a meaning in HTML.
std::string escape_html(std::string_view text);

}  // namespace muster
