// Text that goes into an HTML page.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// With the five letters that mean something to HTML written as what they stand for.
std::string escape_html(std::string_view text);

}  // namespace muster
