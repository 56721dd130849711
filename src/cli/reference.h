// docs/policy-reference.md, written from the tables of plug-ins. A test fails when the page in the
// tree differs; `muster reference > docs/policy-reference.md` writes it again.
#pragma once

#include <string>

namespace muster {

std::string policy_reference();

}  // namespace muster
