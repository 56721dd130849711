// TOML documents as a plain tree, and a reader that takes tables apart and reports unknown keys.
//
// Runs, sweeps, presets and experiments are TOML files. This is the only place that knows the TOML
// library; other code sees scalars as text, with their line number.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/params.h"
#include "base/result.h"

namespace muster {

struct TomlMember;

struct TomlNode {
  enum class Kind { kText, kReal, kInteger, kFlag, kArray, kTable };

  Kind kind = Kind::kTable;
  std::string text;                 // a scalar, as a user would write it
  std::vector<TomlNode> items;      // of an array
  std::vector<TomlMember> members;  // of a table, in the order of the file
  int line = 0;

  bool scalar() const { return kind != Kind::kArray && kind != Kind::kTable; }
  const TomlNode* find(std::string_view name) const;
};

struct TomlMember {
  std::string name;
  TomlNode value;
};

// `where` names the file in messages.
Result<TomlNode> parse_toml(std::string_view text, std::string_view where);
Result<TomlNode> read_toml(const std::string& path);

// The tree of the single setting "section.key=value", as `--set` gives it.
Result<TomlNode> toml_setting(std::string_view setting);
// The tree of one key and value, the key being a path such as "workload.generator.rate".
TomlNode toml_at(std::string_view path, TomlNode value);
TomlNode toml_text(std::string_view text);

// Takes the members of a table one by one. The first problem is kept and told by finish(), which
// also complains about members that were not asked for.
class TomlReader {
 public:
  // `section` is the table's name in messages; empty for the document itself.
  TomlReader(const TomlNode& table, std::string where, std::string section = {});

  // Null when absent. Whoever takes a node also reads what is inside.
  const TomlNode* take(std::string_view name);
  // These leave the value alone when the member is absent.
  void read(std::string_view name, std::string& value);
  void read(std::string_view name, double& value);
  void read(std::string_view name, bool& value);
  void read(std::string_view name, long long& value);
  void read(std::string_view name, std::vector<std::string>& values);  // a scalar is a list of one
  // Likewise, but one text, as from the command line, may name several: "loss,accuracy".
  void read_names(std::string_view name, std::vector<std::string>& names);
  // All members that were not taken yet must be scalars (or arrays of them, joined by commas).
  void read_rest(ParamTexts& params);

  void fail(const TomlNode& at, std::string_view problem);
  void keep(const Status& status);
  bool failed() const { return failed_; }
  const std::string& where() const { return where_; }
  std::string section(std::string_view member) const;
  Status finish();

 private:
  const TomlNode* take_scalar(std::string_view name, std::string_view expected);

  const TomlNode& table_;
  std::string where_;
  std::string section_;
  std::set<std::string, std::less<>> asked_;
  bool failed_ = false;
  Error error_;
};

// Writing: values as TOML spells them.
std::string toml_quoted(std::string_view text);
std::string toml_number(double value);
// A parameter's text as the TOML scalar that reads back to it: a bare number or flag where the text
// is one, else a quoted string.
std::string toml_scalar(std::string_view text);
std::string toml_key(std::string_view name);
// A table as a document: one line per member, tables inside it inline.
std::string toml_document(const TomlNode& table);

}  // namespace muster
