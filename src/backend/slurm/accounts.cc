#include "backend/slurm/accounts.h"

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

constexpr char kBetween = '\x1f';  // never part of a comment

// "3:0": a status and a signal.
int accounted_code(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ':');
  const long long status = parse_integer(words[0]).value_or(0);
  const long long signal = words.size() > 1 ? parse_integer(words[1]).value_or(0) : 0;
  return static_cast<int>(signal > 0 ? 128 + signal : status);
}

}  // namespace

std::vector<std::string> accounts_question(std::uint32_t job) {
  return {"sacct",
          "--noheader",
          "--parsable2",
          "--allocations",
          "--duplicates",
          fmt::format("--delimiter={}", kBetween),
          fmt::format("--jobs={}", job),
          "--format=JobIDRaw,UID,State,ExitCode,Comment,AdminComment"};
}

std::vector<SlurmJob> parse_accounts(std::string_view text) {
  std::vector<SlurmJob> rows;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> words = split(line, kBetween);
    const auto id = parse_integer(words[0]);
    if (words.size() != 6 || !id || *id <= 0 || *id > 0xffffffff) continue;
    SlurmJob& row = rows.emplace_back();
    row.id = static_cast<std::uint32_t>(*id);
    // Nobody's, where that cannot be read: its comment is not believed then.
    const auto user = parse_integer(words[1]);
    row.user_id = user && *user >= 0 ? static_cast<std::uint32_t>(*user) : 0xffffffff;
    // "CANCELLED by 0"
    row.state_name = std::string(words[2].substr(0, words[2].find(' ')));
    row.state = slurm_state(row.state_name);
    row.exit_code = accounted_code(words[3]);
    row.comment = std::string(words[4]);
    row.admin_comment = std::string(words[5]);
  }
  return rows;
}

}  // namespace muster
