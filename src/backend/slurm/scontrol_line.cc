#include "backend/slurm/scontrol_line.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "backend/slurm/command.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kMostAnswer = 1 << 20;

// Its prompt and the echo of what was said to it, and nothing else, mean that all is well. A long
// echo is broken where a terminal would end: its beginning says what it is.
std::string without_echo(std::string_view text, std::string_view said) {
  std::string rest;
  for (std::string_view line : split(text, '\n')) {
    while (line.starts_with("scontrol: ")) line.remove_prefix(10);
    if (trim(line).empty() || line.starts_with(said.substr(0, 40))) continue;
    rest += std::string(line) + "\n";
  }
  return rest;
}

}  // namespace

bool ScontrolLine::plain(const std::string& word) {
  return !word.empty() && word.size() < 60'000 && word[0] != '!' &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  std::string_view("_-.,:=/@+").find(c) != std::string_view::npos;
         });
}

Result<std::string> ScontrolLine::answer_to(const std::string& line, const std::string& last_word) {
  const std::string text = line + "\n" + last_word + "\n";
  if (write(child_->in.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return Error{"scontrol does not listen"};
  }
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(static_cast<long long>(1e3 * seconds_));
  const std::string done = "invalid keyword: " + last_word;
  std::string answer;
  while (true) {
    pollfd polled = {child_->out.get(), POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          end - std::chrono::steady_clock::now())
                          .count();
    if (left <= 0) return Error{fmt::format("scontrol did not answer within {} s", seconds_)};
    if (poll(&polled, 1, static_cast<int>(left)) < 0 && errno != EINTR) {
      return Error{"scontrol: poll failed"};
    }
    if (polled.revents != 0 && !read_some(child_->out, answer)) {
      return Error{"scontrol ended: " + complaint(answer)};
    }
    if (const std::size_t at = answer.find(done); at != std::string::npos) {
      return answer.substr(0, at);
    }
    if (answer.size() > kMostAnswer) return Error{"scontrol says far too much"};
  }
}

Status ScontrolLine::start() {
  if (child_) return Done{};
  Result<Child> started = start_child({"scontrol"}, true);
  if (started) child_.emplace(std::move(*started));
  return started ? Status(Done{}) : Status(started.error());
}

Status ScontrolLine::tell(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!plain(word)) return Error{fmt::format("'{}' cannot be told to scontrol", complaint(word))};
    line += (line.empty() ? "" : " ") + word;
  }
  if (Status there = start(); !there) return there;
  const std::string last_word = fmt::format("muster-said-{}", ++said_);
  const Result<std::string> answer = answer_to(line, last_word);
  if (!answer) {
    // Whatever it still says would be taken for the answer to the next command.
    child_.reset();
    return Error{fmt::format("{}: {}", line, answer.error().message)};
  }
  std::string rest = without_echo(*answer, line);
  // What is left of the echo of the last word and its own prompt.
  const std::string why = complaint(without_echo(rest, last_word));
  if (why.empty()) return Done{};
  return Error{fmt::format("scontrol {}: {}", words[0], why)};
}

}  // namespace muster
