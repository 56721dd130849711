#include "run/config/policy_loader.h"

namespace muster {
namespace {

std::shared_ptr<const PolicyLoader>& usual() {
  static std::shared_ptr<const PolicyLoader> loader;
  return loader;
}

}  // namespace

std::shared_ptr<const PolicyLoader> usual_policy_loader() { return usual(); }

void set_usual_policy_loader(std::shared_ptr<const PolicyLoader> loader) {
  usual() = std::move(loader);
}

bool names_python(std::string_view name) {
  return name.ends_with(".py") || name.find(".py:") != std::string_view::npos;
}

}  // namespace muster
