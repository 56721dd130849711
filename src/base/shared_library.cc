#include "base/shared_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace muster {

SharedLibrary::SharedLibrary(const std::vector<std::string>& files, const char* package)
    : package_(package) {
  std::string problem;
  for (const std::string& file : files) {
    // What it lacks itself is found now, not in the middle of a run.
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      file_ = file;
      return;
    }
    if (problem.empty()) problem = dlerror();
  }
  throw MissingLibrary(
      fmt::format("a library that this needs cannot be loaded: {}; on Debian: apt-get install {}",
                  problem, package));
}

SharedLibrary::Address SharedLibrary::function(const char* name) const {
  void* address = dlsym(handle_, name);
  if (address == nullptr) {
    throw MissingLibrary(
        fmt::format("{} has no function {}, so it is not the version that this needs; on Debian: "
                    "apt-get install {}",
                    file_, name, package_));
  }
  return Address(address);
}

}  // namespace muster
