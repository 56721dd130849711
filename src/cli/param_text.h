// What a parameter may be, in words: for the list of policies and the reference page.
#pragma once

#include <string>
#include <string_view>

#include "base/params.h"

namespace muster {

std::string_view kind_text(ParamKind kind);       // "whole number"
std::string range_text(const ParamInfo& info);    // "number, at least 0"; "fair | greedy | tune"
std::string initial_text(const ParamInfo& info);  // the default; an empty text as two quotes

}  // namespace muster
