#include "run/config/load_config.h"

#include <filesystem>

#include <fmt/format.h>

#include "run/config/share_folder.h"

namespace muster {

Status apply_preset(RunConfig& config, const std::string& name) {
  std::string path = name;
  if (name.find('/') == std::string::npos && !name.ends_with(".toml")) {
    auto found = find_shared_file("presets", "preset", name);
    if (!found) return found.error();
    path = *found;
  }
  const auto document = read_toml(path);
  if (!document) return document.error();
  if (const TomlNode* nested = document->find("preset")) {
    return Error{
        fmt::format("{}, line {}: a preset cannot begin from another preset", path, nested->line)};
  }
  if (Status applied =
          apply_toml(config, *document, path, std::filesystem::path(path).parent_path().string());
      !applied) {
    return applied;
  }
  config.preset = name;
  return Done{};
}

Result<RunConfig> load_config(const TomlNode& document, const std::string& where,
                              const std::string& folder, const ConfigLayers& layers) {
  RunConfig config;
  std::string preset = layers.preset;
  if (const TomlNode* named = document.find("preset"); preset.empty() && named != nullptr) {
    preset = named->text;
  }
  if (!preset.empty()) {
    if (Status applied = apply_preset(config, preset); !applied) return applied.error();
  }
  if (Status applied = apply_toml(config, document, where, folder); !applied) {
    return applied.error();
  }
  config.preset = preset;
  for (const ConfigSetting& setting : layers.settings) {
    if (Status applied = apply_toml(config, setting.document, setting.where); !applied) {
      return applied.error();
    }
  }
  return config;
}

Result<RunConfig> load_config(const ConfigLayers& layers) {
  if (layers.file.empty()) return load_config(TomlNode{}, "", "", layers);
  const auto document = read_toml(layers.file);
  if (!document) return document.error();
  return load_config(*document, layers.file,
                     std::filesystem::path(layers.file).parent_path().string(), layers);
}

}  // namespace muster
