#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/param_text.h"
#include "cli/show.h"
#include "report/json.h"
#include "run/config/declarations.h"
#include "run/config/plugins.h"

namespace muster {
namespace {

struct PoliciesOptions {
  std::string name;
  bool json = false;
  std::vector<std::string> plugins;  // loaded before the command line is parsed
};

struct Found {
  const PluginKind* kind;
  const PluginRow* row;
};

// Every plug-in of that name, or all of a kind when the name is one.
Result<std::vector<Found>> find(const std::string& name) {
  std::vector<Found> found;
  std::vector<std::string_view> names;
  for (const PluginKind& kind : plugin_kinds()) {
    names.push_back(kind.key);
    for (const PluginRow& row : kind.rows) {
      names.push_back(row.name);
      const bool wanted = name.empty() || same_name(name, kind.key) || same_name(name, row.name);
      if (wanted) found.push_back({&kind, &row});
    }
  }
  if (found.empty()) return Error{unknown_name("policy or kind of policy", name, names)};
  return found;
}

void print_list(const std::vector<Found>& found) {
  const PluginKind* last = nullptr;
  for (const Found& one : found) {
    if (one.kind != last) {
      show("{}{} (--{})\n  {}\n\n", last == nullptr ? "" : "\n", one.kind->title,
           one.kind->key == "generator" ? "generate" : one.kind->key, one.kind->sentence);
      last = one.kind;
    }
    std::vector<std::string_view> params;
    for (const ParamInfo& info : *one.row->params) params.push_back(info.name);
    show("  {:<22} {}\n", one.row->name, one.row->sentence);
    if (!params.empty()) show("  {:<22}   parameters: {}\n", "", fmt::join(params, ", "));
  }
  show("\n`muster policies NAME` describes one and its parameters.\n");
}

void print_declaration(std::string_view heading, const Declaration& declared) {
  show("{}", heading);
  for (const Need& need : declared.needs) show("  needs {}\n", need_text(need));
  if (!declared.does.empty()) show("  does: {}\n", fmt::join(declared.does, ", "));
}

void print_one(const Found& one) {
  show("{} ({})\n  {}\n", one.row->name, one.kind->noun, one.row->sentence);
  if (!one.row->source.empty()) show("  source: {}\n", one.row->source);
  if (!one.row->system.empty()) {
    show("  {}, in the form of {}\n", one.row->system, one.row->form);
    for (const PluginRow& other : one.kind->rows) {
      if (other.system != one.row->system || other.name == one.row->name) continue;
      show("    see also {}: {}\n", other.name, other.form);
    }
  }
  if (const auto declared = declared_row(one.kind->key, one.row->name)) {
    print_declaration("", declared->usual);
    for (const DeclaredVariant& variant : declared->variants) {
      print_declaration(fmt::format("  with {}:\n", variant.setting), variant.declaration);
    }
  }
  if (one.row->params->empty()) show("  no parameters\n");
  for (const ParamInfo& info : *one.row->params) {
    show("\n  {} = {}\n      {}\n      {}\n", info.name, initial_text(info), info.sentence,
         range_text(info));
  }
}

void write_declaration(JsonWriter& json, const Found& one) {
  const auto declared = declaration_of(one.kind->key, {std::string(one.row->name)});
  json.key("needs").begin_array();
  for (const Need& need : declared ? declared->needs : std::vector<Need>()) {
    json.begin_object().member("what", info_of(need.of).name);
    json.member("otherwise", need.otherwise).end_object();
  }
  json.end_array().key("does").begin_array();
  for (const std::string_view name : declared ? declared->does : std::vector<std::string_view>()) {
    json.value(name);
  }
  json.end_array();
}

void write_json(const std::vector<Found>& found) {
  JsonWriter json(2);
  json.begin_array();
  for (const Found& one : found) {
    json.begin_object();
    json.member("kind", one.kind->key).member("name", one.row->name);
    json.member("sentence", one.row->sentence).member("source", one.row->source);
    write_declaration(json, one);
    json.key("parameters").begin_array();
    for (const ParamInfo& info : *one.row->params) {
      json.begin_object();
      json.member("name", info.name).member("kind", kind_text(info.kind));
      json.member("default", info.initial).member("sentence", info.sentence);
      if (!std::isinf(info.least) && info.choices.empty()) json.member("least", info.least);
      if (!std::isinf(info.most) && info.choices.empty()) json.member("most", info.most);
      if (!info.choices.empty()) {
        json.key("choices").begin_array();
        for (const std::string_view choice : info.choices) json.value(choice);
        json.end_array();
      }
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  fmt::print("{}\n", json.text());
}

int policies(const PoliciesOptions& options) {
  const auto found = find(options.name);
  if (!found) return complain(found.error());
  const bool whole_kind = found->size() > 1 && found->front().kind->key == options.name;
  if (options.json) {
    write_json(*found);
  } else if (options.name.empty() || whole_kind) {
    print_list(*found);
  } else {
    for (std::size_t i = 0; i < found->size(); ++i) {
      if (i > 0) fmt::print("\n");
      print_one((*found)[i]);
    }
  }
  return kExitOk;
}

}  // namespace

void add_policies_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "policies",
      "List policies, pacings, performance models and generators with their parameters");
  const auto options = std::make_shared<PoliciesOptions>();
  command->add_option("NAME", options->name, "a policy, or a kind such as scheduling");
  command->add_flag("--json", options->json, "print the list as JSON");
  command->add_option("--plugin", options->plugins, "policy library to list as well")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->footer(
      "Examples:\n"
      "  muster policies                 everything that can be chosen\n"
      "  muster policies scheduling      one kind\n"
      "  muster policies las             one policy: its parameters, defaults and ranges\n"
      "  muster policies --json | jq '.[].name'");
  command->callback([options, &chosen] { chosen.run = [options] { return policies(*options); }; });
}

}  // namespace muster
