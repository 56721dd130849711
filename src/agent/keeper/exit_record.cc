#include "agent/keeper/exit_record.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kOutcomes = {"finished", "stopped", "failed", "returned"};
constexpr const char* kName = "exit.json";
constexpr const char* kTemporary = "exit.json.new";
// Enough for a few hundred ranks; more than that may meet a full disk.
constexpr off_t kReserved = 16 << 10;

Error failure(const std::filesystem::path& path, int code) {
  return Error{fmt::format("cannot write {}: {}", path.string(), std::strerror(code))};
}

bool write_all(int file, std::string_view text) {
  off_t at = 0;
  while (!text.empty()) {
    const ssize_t count = pwrite(file, text.data(), text.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
    at += count;
  }
  return true;
}

bool sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool done = fsync(descriptor) == 0;
  close(descriptor);
  return done;
}

}  // namespace

std::string_view keeper_outcome_name(KeeperOutcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

std::string record_text(const ExitRecord& record) {
  Json ranks = Json::array();
  for (const RankExit& rank : record.ranks) {
    ranks.push_back({{"rank", rank.rank}, {"code", rank.code}, {"signal", rank.signal}});
  }
  const Json json = {{"version", 1},
                     {"job", record.job},
                     {"launch", record.launch},
                     {"outcome", std::string(keeper_outcome_name(record.outcome))},
                     {"cause", record.cause},
                     {"exit_code", record.exit_code},
                     {"seconds", record.seconds},
                     {"step", record.step},
                     {"saved_step", record.saved_step},
                     {"ranks", ranks},
                     {"notes", record.notes}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ExitRecord> parse_record(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  ExitRecord record;
  try {
    record.job = json.at("job").get<std::uint32_t>();
    record.launch = json.at("launch").get<std::uint32_t>();
    const auto outcome = json.at("outcome").get<std::string>();
    const auto* const found = std::find(kOutcomes.begin(), kOutcomes.end(), outcome);
    if (found == kOutcomes.end()) {
      return Error{fmt::format("exit record: unknown outcome '{}'", outcome)};
    }
    record.outcome = static_cast<KeeperOutcome>(found - kOutcomes.begin());
    record.cause = json.at("cause").get<std::string>();
    record.exit_code = json.at("exit_code").get<int>();
    record.seconds = json.at("seconds").get<double>();
    record.step = json.at("step").get<std::int64_t>();
    record.saved_step = json.at("saved_step").get<std::int64_t>();
    for (const Json& rank : json.at("ranks")) {
      record.ranks.push_back(
          {rank.at("rank").get<int>(), rank.at("code").get<int>(), rank.at("signal").get<int>()});
    }
    record.notes = json.at("notes").get<std::vector<std::string>>();
  } catch (const Json::exception& problem) {
    return Error{fmt::format("exit record: {}", problem.what())};
  }
  return record;
}

Result<RecordFile> RecordFile::reserve(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kTemporary;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return failure(path, errno);
  const int code = posix_fallocate(file, 0, kReserved);
  if (code != 0) {
    close(file);
    unlink(path.c_str());
    return failure(path, code);
  }
  return RecordFile(folder, file);
}

RecordFile::RecordFile(RecordFile&& other) noexcept
    : folder_(std::move(other.folder_)), file_(std::exchange(other.file_, -1)) {}

RecordFile::~RecordFile() {
  if (file_ >= 0) close(file_);
}

Status RecordFile::write(const ExitRecord& record) {
  const std::string text = record_text(record);
  const std::filesystem::path from = folder_ / kTemporary;
  const std::filesystem::path to = folder_ / kName;
  if (!write_all(file_, text) || ftruncate(file_, static_cast<off_t>(text.size())) != 0 ||
      fsync(file_) != 0 || rename(from.c_str(), to.c_str()) != 0 || !sync_folder(folder_)) {
    return failure(to, errno);
  }
  return Done{};
}

}  // namespace muster
