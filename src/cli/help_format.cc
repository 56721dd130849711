#include "cli/help_format.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/terminal.h"

namespace muster {
namespace {

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(32); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string help = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = 0; (at = help.find("\n\n\n", at)) != std::string::npos;) {
      help.erase(at, 1);
    }
    return is_terminal(STDOUT_FILENO)
               ? fitted(help, static_cast<std::size_t>(terminal_width(STDOUT_FILENO)))
               : help;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional() || option->get_type_size() == 0) return "";
    return " " + placeholder(option->get_type_name());
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string initial = option->get_default_str();
    if (initial.empty()) return option->get_description();
    return fmt::format("{} (default {})", option->get_description(), initial);
  }

 private:
  // The parser's names for types say nothing to a person, nor do those of its checks, which it
  // appends to them: `JOB:NONNEGATIVE`.
  static std::string placeholder(const std::string& type) {
    if (type.starts_with("INT") || type.starts_with("UINT")) return "N";
    if (type.starts_with("FLOAT")) return "X";
    if (type.starts_with("TEXT")) return "TEXT";
    return type.substr(0, type.find(':'));
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace muster
