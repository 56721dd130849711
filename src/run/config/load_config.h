// A description from its layers: the preset, the file, then single settings, each replacing what it
// names in the layers before.
#pragma once

#include <string>
#include <vector>

#include "run/config/config.h"

namespace muster {

struct ConfigSetting {
  TomlNode document;
  std::string where;  // for messages: "--scheduling"
};

struct ConfigLayers {
  std::string preset = {};                   // empty: the one that the file names, if any
  std::string file = {};                     // TOML; may be empty
  std::vector<ConfigSetting> settings = {};  // from the command line, in order
};

// Not completed yet: see complete_config().
Result<RunConfig> load_config(const ConfigLayers& layers);
// The same from a document in memory; relative paths are taken from `folder`.
Result<RunConfig> load_config(const TomlNode& document, const std::string& where,
                              const std::string& folder, const ConfigLayers& layers);

// A preset by name, or a file if the name looks like a path.
Status apply_preset(RunConfig& config, const std::string& name);

}  // namespace muster
