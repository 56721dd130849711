// All tables of plug-ins in one place: what can be chosen for a run, by kind. The `policies`
// command, the reference page, completions, and the checks of run descriptions read this.
#pragma once

#include <string_view>
#include <vector>

#include "base/params.h"
#include "base/result.h"

namespace muster {

struct PluginRow {
  std::string_view name;
  std::string_view sentence;
  std::string_view source;  // paper or system, year; may be empty
  const ParamList* params = nullptr;
  std::string_view system = {};  // of policies that exist in several forms
  std::string_view form = {};    // whose form of it this is
};

struct PluginKind {
  std::string_view key;    // as in TOML: "scheduling"
  std::string_view noun;   // in messages: "scheduling policy"
  std::string_view title;  // of its section in lists: "Scheduling policies"
  std::string_view sentence;
  std::string_view option;  // of the command line: "--scheduling"
  std::vector<PluginRow> rows;
};

const std::vector<PluginKind>& plugin_kinds();
// The kind of that key; there must be one.
const PluginKind& plugin_kind(std::string_view key);
// The row of that name; the error suggests the nearest.
Result<const PluginRow*> find_plugin(const PluginKind& kind, std::string_view name);

}  // namespace muster
