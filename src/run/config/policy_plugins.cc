#include "run/config/policy_plugins.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "run/config/plugin_tables.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// The modules that a policy may use.
constexpr std::string_view kModules[] = {"base", "model", "perf", "solve", "policy"};

PolicyPlugin& loaded() {
  static PolicyPlugin plugin;
  return plugin;
}

// FNV-1a; this is against mistakes, not against attackers.
void mix(std::uint64_t& hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
}

Error not_loaded(const std::string& path, std::string_view why) {
  return Error{fmt::format(
      "--plugin {}: {}; build it with this very command: muster build-policy FILE.cc", path, why)};
}

// The rows must have names of their own.
template <typename Row>
Status check_names(const std::string& path, const std::vector<Row>& known,
                   const std::vector<Row>& added) {
  for (const Row& row : added) {
    const auto same = [&row](const Row& other) { return other.name == row.name; };
    if (std::any_of(known.begin(), known.end(), same) ||
        std::count_if(added.begin(), added.end(), same) > 1) {
      return Error{fmt::format("--plugin {}: there is a policy '{}' already; give it another name",
                               path, row.name)};
    }
  }
  return Done{};
}

template <typename Row>
void append(std::vector<Row>& all, const std::vector<Row>& added) {
  all.insert(all.end(), added.begin(), added.end());
}

}  // namespace

const PolicyPlugin& loaded_policies() { return loaded(); }

Result<std::string> policy_headers() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& root :
       {folder / ".." / "include" / "muster", folder / ".." / ".." / "src"}) {
    if (fs::is_regular_file(root / "policy" / "plugin.h", ignored)) {
      return root.lexically_normal().string();
    }
  }
  return Error{fmt::format(
      "Muster's headers are not where they are expected ({}): install Muster with `make install`",
      (folder / ".." / "include" / "muster").lexically_normal().string())};
}

Result<std::string> headers_fingerprint(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const std::string_view module : kModules) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(folder) / module, failed)) {
      if (entry.path().extension() == ".h") files.push_back(entry.path());
    }
    if (failed) return Error{fmt::format("{}/{}: {}", folder, module, failed.message())};
  }
  std::sort(files.begin(), files.end());
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) return Error{fmt::format("{} cannot be read", path.string())};
    mix(hash, path.lexically_relative(folder).string());
    mix(hash, text);
  }
  return fmt::format("{:016x}", hash);
}

Result<std::vector<std::string>> policy_build_command(const std::string& source,
                                                      const std::string& library) {
  const auto headers = policy_headers();
  if (!headers) return headers.error();
  const auto fingerprint = headers_fingerprint(*headers);
  if (!fingerprint) return fingerprint.error();
  const char* chosen = std::getenv("CXX");
  const std::string compiler = chosen != nullptr && *chosen != '\0' ? chosen : "c++";
  return std::vector<std::string>{compiler,
                                  "-std=c++20",
                                  "-O2",
                                  "-fPIC",
                                  "-shared",
                                  "-ffp-contract=off",
                                  fmt::format("-DMUSTER_PLUGIN_FINGERPRINT=\"{}\"", *fingerprint),
                                  "-I" + *headers,
                                  source,
                                  "-o",
                                  library};
}

Status load_policy_plugin(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) {
    return Error{fmt::format("--plugin {}: there is no such file", path)};
  }
  // With a slash in it the name is a path, and not looked for among the system's libraries.
  void* library = dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return not_loaded(path, dlerror());
  const auto fingerprint =
      reinterpret_cast<const char* (*)()>(dlsym(library, "muster_plugin_fingerprint"));
  const auto rows = reinterpret_cast<void (*)(PolicyPlugin&)>(dlsym(library, "muster_plugin_rows"));
  if (fingerprint == nullptr || rows == nullptr) {
    return not_loaded(path, "it is not a library of policies, as it has no MUSTER_PLUGIN(...)");
  }
  const auto headers = policy_headers();
  if (!headers) return headers.error();
  const auto expected = headers_fingerprint(*headers);
  if (!expected) return expected.error();
  if (fingerprint() != *expected) {
    return not_loaded(path, "it was built for another version of Muster");
  }
  PolicyPlugin added;
  rows(added);
  const PluginTables known = present_tables();
  if (Status ok = check_names(path, known.admission, added.admission); !ok) return ok;
  if (Status ok = check_names(path, known.scheduling, added.scheduling); !ok) return ok;
  if (Status ok = check_names(path, known.placement, added.placement); !ok) return ok;
  if (Status ok = check_names(path, known.selector, added.selector); !ok) return ok;
  if (Status ok = check_names(path, known.scaling, added.scaling); !ok) return ok;
  append(loaded().admission, added.admission);
  append(loaded().scheduling, added.scheduling);
  append(loaded().placement, added.placement);
  append(loaded().selector, added.selector);
  append(loaded().scaling, added.scaling);
  return Done{};
}

}  // namespace muster
