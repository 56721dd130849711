#include "backend/slurm/mark.h"

#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

std::optional<std::uint32_t> mark_number(std::string_view text) {
  const auto number = parse_integer(text);
  if (!number || *number < 0 || *number > 0xfffffffe) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

bool is_word(std::string_view text) {
  constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyz";
  return !text.empty() && text.size() <= 32 &&
         text.find_first_not_of(kLetters) == std::string_view::npos;
}

}  // namespace

std::string mark_text(const SlurmMark& mark) {
  return fmt::format("muster/{}/{}/{}/{}/{}/{}", mark.instance,
                     mark.nonce.empty() ? "-" : mark.nonce, index(mark.run.job), mark.run.launch,
                     mark.requeues, mark.ranks);
}

std::string own_mark_prefix(const std::string& instance, JobId job) {
  return fmt::format("muster/{}/-/{}/", instance, index(job));
}

std::optional<SlurmMark> parse_mark(std::string_view text) {
  const std::vector<std::string_view> words = split(text, '/');
  if (words.size() != 7 || words[0] != "muster" || !is_word(words[1])) return std::nullopt;
  if (words[2] != "-" && !is_word(words[2])) return std::nullopt;
  const auto job = mark_number(words[3]);
  const auto launch = mark_number(words[4]);
  const auto requeues = mark_number(words[5]);
  const auto ranks = mark_number(words[6]);
  if (!job || !launch || !requeues || !ranks) return std::nullopt;
  SlurmMark mark;
  mark.instance = std::string(words[1]);
  if (words[2] != "-") mark.nonce = std::string(words[2]);
  mark.run = {JobId{*job}, *launch};
  mark.requeues = *requeues;
  mark.ranks = *ranks;
  // One spelling only.
  if (mark_text(mark) != text) return std::nullopt;
  return mark;
}

std::string origin_text(const SlurmOrigin& origin) {
  return fmt::format("slurm:{}@{}", origin.job, origin.nonce);
}

std::optional<SlurmOrigin> parse_origin(std::string_view text) {
  constexpr std::string_view kPrefix = "slurm:";
  const std::size_t at = text.find('@');
  if (!text.starts_with(kPrefix) || at == std::string_view::npos) return std::nullopt;
  const auto job = mark_number(text.substr(kPrefix.size(), at - kPrefix.size()));
  if (!job || !is_word(text.substr(at + 1))) return std::nullopt;
  SlurmOrigin origin{*job, std::string(text.substr(at + 1))};
  if (origin_text(origin) != text) return std::nullopt;
  return origin;
}

}  // namespace muster
