// Descriptions from Python: the tree of a TOML document, made of dicts, lists and plain values.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include "run/config/config.h"

namespace muster::python {

namespace nb = nanobind;

// `where` is the keyword in messages.
TomlNode toml_of(nb::handle value, const std::string& where);

// The description of keywords: each replaces what the preset and the file say. "preset" and "file"
// name these layers. Not complete yet.
RunConfig described(const nb::dict& settings, std::shared_ptr<const PolicyLoader> loader);

}  // namespace muster::python
