#include "cli/completion.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace muster {
namespace {

// Calls visit(path, node) for the command and everything below it; the path of `trace info` is
// "trace info".
template <typename Visit>
void for_each_command(const CommandNode& node, const std::string& path, const Visit& visit) {
  visit(path, node);
  for (const CommandNode& child : node.commands) {
    for_each_command(child, path.empty() ? child.name : path + " " + child.name, visit);
  }
}

std::vector<std::string> words_after(const CommandNode& node) {
  std::vector<std::string> words;
  for (const CommandNode& child : node.commands) words.push_back(child.name);
  for (const CommandOption& option : node.options) {
    if (!option.positional) words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return words;
}

// For single quotes in every shell that we write for.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::string bash_completion(const CommandNode& tree) {
  std::string values;
  std::string words;
  for_each_command(tree, "", [&](const std::string& path, const CommandNode& node) {
    words += fmt::format("    {}) words={} ;;\n", in_quotes(path),
                         in_quotes(fmt::format("{}", fmt::join(words_after(node), " "))));
    for (const CommandOption& option : node.options) {
      if (option.positional || !option.takes_value) continue;
      for (const std::string& name : option.names) {
        const std::string line = fmt::format(
            "    {}) {} ;;\n", in_quotes(fmt::format("{}|{}", path, name)),
            option.values.empty()
                ? "COMPREPLY=($(compgen -f -- \"$current\")); return"
                : fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\")); return",
                              in_quotes(fmt::format("{}", fmt::join(option.values, " ")))));
        values += line;
      }
    }
  });
  std::string paths;
  for_each_command(tree, "", [&](const std::string& path, const CommandNode&) {
    if (!path.empty()) paths += in_quotes(path) + " ";
  });
  return fmt::format(R"(# bash completion for muster
_muster() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} path= word known words
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    for known in {}; do
      if [[ $known == "${{path:+$path }}$word" ]]; then path=$known; fi
    done
  done
  case "$path|$previous" in
{}  esac
  case "$path" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ -n $path && $current != -* ]]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}}
complete -o filenames -F _muster muster
)",
                     paths, values, words);
}

std::string zsh_completion(const CommandNode& tree) {
  std::string cases;
  for_each_command(tree, "", [&](const std::string& path, const CommandNode& node) {
    std::string list;
    for (const CommandNode& child : node.commands) {
      list += " " + in_quotes(child.name + ":" + first_line(child.sentence));
    }
    std::string options;
    std::string values;
    for (const CommandOption& option : node.options) {
      if (option.positional) continue;
      for (const std::string& name : option.names) {
        options += " " + in_quotes(name + ":" + first_line(option.sentence));
        if (!option.takes_value) continue;
        values += option.values.empty() ? fmt::format("        {}) _files; return ;;\n", name)
                                        : fmt::format("        {}) compadd -- {}; return ;;\n",
                                                      name, fmt::join(option.values, " "));
      }
    }
    cases += fmt::format(
        "    {})\n      case \"$words[CURRENT-1]\" in\n{}      esac\n      commands=({})\n"
        "      options=({})\n      ;;\n",
        in_quotes(path), values, list, options);
  });
  std::string paths;
  for_each_command(tree, "", [&](const std::string& path, const CommandNode&) {
    if (!path.empty()) paths += in_quotes(path) + " ";
  });
  return fmt::format(R"(#compdef muster
# zsh completion for muster
_muster() {{
  local path_= word known
  local -a commands options
  for word in "${{words[@]:1:CURRENT-2}}"; do
    for known in {}; do
      [[ $known == "${{path_:+$path_ }}$word" ]] && path_=$known
    done
  done
  case "$path_" in
{}  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe option options
  else
    (( $#commands )) && _describe command commands
    [[ -n $path_ ]] && _files
  fi
}}
_muster "$@"
)",
                     paths, cases);
}

std::string fish_completion(const CommandNode& tree) {
  std::string out = "# fish completion for muster\ncomplete -c muster -f\n";
  std::vector<std::string> top;
  for (const CommandNode& child : tree.commands) top.push_back(child.name);
  for_each_command(tree, "", [&](const std::string& path, const CommandNode& node) {
    std::string condition;
    if (path.empty()) {
      condition = fmt::format("not __fish_seen_subcommand_from {}", fmt::join(top, " "));
    } else {
      std::vector<std::string> seen;
      std::size_t begin = 0;
      while (begin < path.size()) {
        const std::size_t end = std::min(path.find(' ', begin), path.size());
        seen.push_back("__fish_seen_subcommand_from " + path.substr(begin, end - begin));
        begin = end + 1;
      }
      condition = fmt::format("{}", fmt::join(seen, "; and "));
    }
    for (const CommandNode& child : node.commands) {
      out += fmt::format("complete -c muster -n {} -a {} -d {}\n", in_quotes(condition), child.name,
                         in_quotes(first_line(child.sentence)));
    }
    for (const CommandOption& option : node.options) {
      if (option.positional) {
        if (!path.empty())
          out += fmt::format("complete -c muster -n {} -F\n", in_quotes(condition));
        continue;
      }
      out += fmt::format("complete -c muster -n {}", in_quotes(condition));
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (option.takes_value) {
        out += option.values.empty()
                   ? " -r -F"
                   : fmt::format(" -x -a {}",
                                 in_quotes(fmt::format("{}", fmt::join(option.values, " "))));
      }
      out += fmt::format(" -d {}\n", in_quotes(first_line(option.sentence)));
    }
  });
  return out;
}

}  // namespace muster
