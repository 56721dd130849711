#include "backend/slurm/rank_words.h"

#include <array>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "backend/live/progress_words.h"
#include "base/out_file.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kLongestWords = 4096;

// Where the keeper has a secret, here the folder is only open to its owner.
DeskSettings words_settings(RunId run) {
  DeskSettings settings;
  settings.job = static_cast<std::uint32_t>(run.job);
  settings.launch = run.launch;
  settings.token = "-";
  return settings;
}

// What has been appended to a file. It is opened anew each time: that is when a network file system
// looks whether others have changed it.
std::string appended(const std::filesystem::path& file, std::streamoff& read) {
  std::string text;
  const int open_file = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (open_file < 0) return text;
  std::array<char, 65536> buffer;
  const ssize_t count = pread(open_file, buffer.data(), buffer.size(), read);
  close(open_file);
  if (count > 0) text.assign(buffer.data(), static_cast<std::size_t>(count));
  read += static_cast<std::streamoff>(text.size());
  return text;
}

}  // namespace

Status make_rank_words(const std::filesystem::path& folder) {
  const int file = open((folder / "words").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return file_error("make", (folder / "words").string(), errno);
  close(file);
  return Done{};
}

RankWords::RankWords(std::filesystem::path folder, RunId run, int ranks)
    : folder_(std::move(folder)), desk_(words_settings(run)) {
  progress_.run = run;
  ranks_.resize(static_cast<std::size_t>(std::max(1, ranks)));
  // What an earlier daemon has told them.
  std::streamoff read = 0;
  const std::string told = appended(folder_ / "words", read);
  for (const std::string_view line : split(told, '\n')) {
    if (line == "where") {
      where_told_ = true;
      desk_.ask_to_leave();
    } else if (line.starts_with("last ")) {
      last_told_ = true;
      if (const auto step = parse_integer(line.substr(5))) desk_.agree(*step);
    }
  }
}

void RankWords::hear(bool all) {
  const std::size_t ranks = all || where_told_ ? ranks_.size() : 1;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Heard& heard = ranks_[rank];
    if (heard.refused) continue;
    heard.rest += appended(folder_ / fmt::format("rank-{}.words", rank), heard.bytes);
  }
  // All greetings first: a last step is agreed on only with all ranks that are there.
  for (std::size_t rank = 0; rank < ranks; ++rank) hear_line(rank, true);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    while (hear_line(rank, false)) {
    }
    ranks_[rank].refused = ranks_[rank].refused || ranks_[rank].rest.size() > kLongestWords;
  }
  pass_on();
}

// Takes in the next line, where there is one.
bool RankWords::hear_line(std::size_t rank, bool greeting) {
  Heard& heard = ranks_[rank];
  const std::size_t end = heard.refused ? std::string::npos : heard.rest.find('\n');
  if (end == std::string::npos || (greeting && heard.greeted)) return false;
  const std::string line = heard.rest.substr(0, end);
  heard.rest.erase(0, end + 1);
  heard.greeted = true;
  // There are no leases here, so no clock matters.
  if (desk_.heard(static_cast<JobDesk::Client>(rank), line, 0)) return true;
  heard.refused = true;
  desk_.closed(static_cast<JobDesk::Client>(rank));
  return false;
}

void RankWords::ask_to_leave() {
  desk_.ask_to_leave();
  pass_on();
}

void RankWords::pass_on() {
  for (const std::string& line : desk_.take_news()) {
    progressed_ = hear_progress(progress_, line) || progressed_;
  }
  std::string told;
  for (const auto& [client, line] : desk_.take_replies()) {
    bool* const before = line == "where"             ? &where_told_
                         : line.starts_with("last ") ? &last_told_
                                                     : nullptr;
    if (before != nullptr && !std::exchange(*before, true)) told += line + "\n";
  }
  if (told.empty()) return;
  const int file = open((folder_ / "words").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  // A disk that is full: they leave when their time is over.
  static_cast<void>(write(file, told.data(), told.size()) == 0);
  close(file);
}

std::optional<ProgressReport> RankWords::take_progress() {
  if (!std::exchange(progressed_, false)) return std::nullopt;
  ProgressReport report = progress_;
  progress_.metrics.clear();
  return report;
}

}  // namespace muster
