#include "run/config/toml.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/out_file.h"
#include "base/text.h"
#include "base/toml_library.h"

namespace muster {
namespace {

using Position = std::pair<unsigned, unsigned>;

TomlNode convert(const toml::node& node);

TomlNode convert_table(const toml::table& table) {
  TomlNode result;
  std::vector<std::pair<Position, TomlMember>> members;
  for (const auto& [key, value] : table) {
    members.push_back({{key.source().begin.line, key.source().begin.column},
                       {std::string(key.str()), convert(value)}});
  }
  // The library keeps tables by name; people expect the order of the file.
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [place, member] : members) result.members.push_back(std::move(member));
  return result;
}

TomlNode convert(const toml::node& node) {
  TomlNode result;
  if (const toml::table* table = node.as_table()) {
    result = convert_table(*table);
  } else if (const toml::array* array = node.as_array()) {
    result.kind = TomlNode::Kind::kArray;
    for (const toml::node& item : *array) result.items.push_back(convert(item));
  } else if (const auto* text = node.as_string()) {
    result.kind = TomlNode::Kind::kText;
    result.text = text->get();
  } else if (const auto* whole = node.as_integer()) {
    result.kind = TomlNode::Kind::kInteger;
    result.text = fmt::to_string(whole->get());
  } else if (const auto* real = node.as_floating_point()) {
    result.kind = TomlNode::Kind::kReal;
    result.text = exact_text(real->get());
  } else if (const auto* flag = node.as_boolean()) {
    result.kind = TomlNode::Kind::kFlag;
    result.text = flag->get() ? "true" : "false";
  } else {
    // Dates and times, which nothing here takes: as text they end in a message that shows them.
    result.kind = TomlNode::Kind::kText;
    std::ostringstream shown;
    shown << toml::default_formatter(node);
    result.text = shown.str();
  }
  result.line = static_cast<int>(node.source().begin.line);
  return result;
}

TomlNode::Kind kind_of_text(std::string_view text) {
  if (parse_integer(text)) return TomlNode::Kind::kInteger;
  if (parse_real(text)) return TomlNode::Kind::kReal;
  if (text == "true" || text == "false") return TomlNode::Kind::kFlag;
  return TomlNode::Kind::kText;
}

bool bare_key(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

}  // namespace

const TomlNode* TomlNode::find(std::string_view name) const {
  for (const auto& [key, node] : members) {
    if (key == name) return &node;
  }
  return nullptr;
}

Result<TomlNode> parse_toml(std::string_view text, std::string_view where) {
  const toml::parse_result parsed = toml::parse(text, where);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Error{fmt::format("{}, line {}, column {}: not valid TOML: {}", where,
                             error.source().begin.line, error.source().begin.column,
                             std::string_view(error.description()))};
  }
  return convert(parsed.table());
}

Result<TomlNode> read_toml(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse_toml(*text, path);
}

TomlNode toml_text(std::string_view text) {
  TomlNode node;
  node.kind = kind_of_text(text);
  node.text = text;
  return node;
}

TomlNode toml_at(std::string_view path, TomlNode value) {
  const std::size_t dot = path.find('.');
  TomlNode table;
  if (dot == std::string_view::npos) {
    table.members.push_back({std::string(path), std::move(value)});
  } else {
    table.members.push_back(
        {std::string(path.substr(0, dot)), toml_at(path.substr(dot + 1), std::move(value))});
  }
  return table;
}

Result<TomlNode> toml_setting(std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos || trim(setting.substr(0, equals)).empty()) {
    return Error{fmt::format("--set {}: expected KEY=VALUE, as in --set failures.node_mtbf=604800",
                             setting)};
  }
  const std::string_view value = trim(setting.substr(equals + 1));
  if (value.starts_with('{')) {
    // An inline table is one: no name begins like that.
    auto table = parse_toml(fmt::format("value = {}", value), fmt::format("--set {}", setting));
    if (!table) return table.error();
    return toml_at(trim(setting.substr(0, equals)), std::move(table->members.front().value));
  }
  return toml_at(trim(setting.substr(0, equals)), toml_text(value));
}

TomlReader::TomlReader(const TomlNode& table, std::string where, std::string section)
    : table_(table), where_(std::move(where)), section_(std::move(section)) {
  if (table_.kind != TomlNode::Kind::kTable) {
    fail(table_, fmt::format("'{}' must be a table, found '{}'", section_, table_.text));
  }
}

std::string TomlReader::section(std::string_view member) const {
  return section_.empty() ? std::string(member) : fmt::format("{}.{}", section_, member);
}

void TomlReader::fail(const TomlNode& at, std::string_view problem) {
  if (failed_) return;
  failed_ = true;
  error_.message = at.line > 0 ? fmt::format("{}, line {}: {}", where_, at.line, problem)
                               : fmt::format("{}: {}", where_, problem);
}

void TomlReader::keep(const Status& status) {
  if (failed_ || status) return;
  failed_ = true;
  error_ = status.error();
}

const TomlNode* TomlReader::take(std::string_view name) {
  asked_.emplace(name);
  return table_.find(name);
}

const TomlNode* TomlReader::take_scalar(std::string_view name, std::string_view expected) {
  const TomlNode* node = take(name);
  if (node == nullptr) return nullptr;
  if (node->scalar()) return node;
  fail(*node, fmt::format("'{}' must be {}", section(name), expected));
  return nullptr;
}

void TomlReader::read(std::string_view name, std::string& value) {
  if (const TomlNode* node = take_scalar(name, "a text")) value = node->text;
}

void TomlReader::read(std::string_view name, double& value) {
  const TomlNode* node = take_scalar(name, "a number");
  if (node == nullptr) return;
  const auto number = parse_real(node->text);
  if (!number || std::isnan(*number)) {
    fail(*node, fmt::format("'{}' is '{}', but must be a number", section(name), node->text));
    return;
  }
  value = *number;
}

void TomlReader::read(std::string_view name, bool& value) {
  const TomlNode* node = take_scalar(name, "true or false");
  if (node == nullptr) return;
  const auto flag = parse_flag(node->text);
  if (!flag) {
    fail(*node, fmt::format("'{}' is '{}', but must be true or false", section(name), node->text));
    return;
  }
  value = *flag;
}

void TomlReader::read(std::string_view name, long long& value) {
  const TomlNode* node = take_scalar(name, "a whole number");
  if (node == nullptr) return;
  const auto whole = parse_integer(node->text);
  if (!whole) {
    fail(*node, fmt::format("'{}' is '{}', but must be a whole number", section(name), node->text));
    return;
  }
  value = *whole;
}

void TomlReader::read(std::string_view name, std::vector<std::string>& values) {
  const TomlNode* node = take(name);
  if (node == nullptr) return;
  values.clear();
  if (node->scalar()) values.push_back(node->text);
  for (const TomlNode& item : node->items) {
    if (!item.scalar()) fail(item, fmt::format("'{}' must be a list of texts", section(name)));
    values.push_back(item.text);
  }
  if (node->kind == TomlNode::Kind::kTable) {
    fail(*node, fmt::format("'{}' must be a list of texts", section(name)));
  }
}

void TomlReader::read_names(std::string_view name, std::vector<std::string>& names) {
  read(name, names);
  if (names.size() != 1) return;
  const std::string all = std::move(names.front());
  names.clear();
  for (const std::string_view one : split(all, ',')) {
    if (!trim(one).empty()) names.emplace_back(trim(one));
  }
}

void TomlReader::read_rest(ParamTexts& params) {
  for (const auto& [name, node] : table_.members) {
    if (!asked_.insert(name).second) continue;
    std::vector<std::string_view> parts;
    bool plain = node.kind != TomlNode::Kind::kTable;
    for (const TomlNode& item : node.items) {
      plain = plain && item.scalar();
      parts.push_back(item.text);
    }
    if (!plain) fail(node, fmt::format("'{}' must be a single value", section(name)));
    params[name] = node.scalar() ? node.text : fmt::format("{}", fmt::join(parts, ","));
  }
}

Status TomlReader::finish() {
  if (!failed_) {
    const std::vector<std::string_view> known(asked_.begin(), asked_.end());
    for (const auto& [name, node] : table_.members) {
      if (asked_.count(name) != 0) continue;
      const std::string kind = section_.empty() ? "key" : fmt::format("key in [{}]", section_);
      fail(node, unknown_name(kind, name, known));
    }
  }
  if (failed_) return error_;
  return Done{};
}

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_number(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const std::string text = exact_text(value);
  return text;
}

std::string toml_scalar(std::string_view text) {
  switch (kind_of_text(text)) {
    case TomlNode::Kind::kInteger:
    case TomlNode::Kind::kReal: {
      // Only what TOML itself would read back to the same text may stand bare.
      const auto parsed = parse_toml(fmt::format("x = {}", text), "");
      const TomlNode* node = parsed ? parsed->find("x") : nullptr;
      return node != nullptr && node->text == text ? std::string(text) : toml_quoted(text);
    }
    case TomlNode::Kind::kFlag:
      return std::string(text);
    default:
      return toml_quoted(text);
  }
}

std::string toml_key(std::string_view name) {
  return bare_key(name) ? std::string(name) : toml_quoted(name);
}

namespace {

std::string inline_value(const TomlNode& node) {
  std::string out;
  switch (node.kind) {
    case TomlNode::Kind::kText:
      return toml_quoted(node.text);
    case TomlNode::Kind::kArray:
      for (const TomlNode& item : node.items) {
        out += (out.empty() ? "" : ", ") + inline_value(item);
      }
      return fmt::format("[{}]", out);
    case TomlNode::Kind::kTable:
      for (const auto& [name, member] : node.members) {
        out +=
            fmt::format("{}{} = {}", out.empty() ? "" : ", ", toml_key(name), inline_value(member));
      }
      return fmt::format("{{{}}}", out);
    default:
      return node.text;
  }
}

}  // namespace

std::string toml_document(const TomlNode& table) {
  std::string out;
  for (const auto& [name, member] : table.members) {
    out += fmt::format("{} = {}\n", toml_key(name), inline_value(member));
  }
  return out;
}

}  // namespace muster
