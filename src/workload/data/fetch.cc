#include "workload/data/fetch.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/out_file.h"
#include "base/shared_library.h"
#include "workload/data/data_folder.h"
#include "workload/data/sha256.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

struct Curl {
  SharedLibrary library{{"libcurl.so.4", "libcurl-gnutls.so.4"}, "libcurl4"};
  MUSTER_LOADED(curl_easy_init);
  MUSTER_LOADED(curl_easy_cleanup);
  MUSTER_LOADED(curl_easy_setopt);
  MUSTER_LOADED(curl_easy_perform);
  MUSTER_LOADED(curl_easy_strerror);
  MUSTER_LOADED(curl_easy_getinfo);
};

const Curl& curl() {
  static const Curl table;
  return table;
}

// What one request to the server came to.
enum class Outcome { kComplete, kBroken, kCannotResume, kTooLong, kDiskFull, kStopped, kRefused };

// One request; lives on the stack of the call that makes it.
class Transfer {
 public:
  Transfer(const DataFile& file, const FetchOptions& options, std::FILE* out, std::uint64_t from)
      : file_(file), options_(options), out_(out), from_(from), written_(from) {}

  Outcome run() {
    const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl().curl_easy_init(),
                                                        curl().curl_easy_cleanup);
    if (!handle) {
      message_ = "libcurl could not be started";
      return Outcome::kRefused;
    }
    prepare(handle.get());
    char detail[CURL_ERROR_SIZE] = "";
    curl().curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, detail);
    const CURLcode code = curl().curl_easy_perform(handle.get());
    message_ = detail[0] != '\0' ? detail : curl().curl_easy_strerror(code);
    const bool offline = code == CURLE_COULDNT_RESOLVE_HOST ||
                         code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_COULDNT_CONNECT;
    if (offline && options_.offline != nullptr) *options_.offline = true;
    long status = 0;
    curl().curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    return outcome_of(code, status);
  }

  const std::string& message() const { return message_; }

 private:
  void prepare(CURL* handle) {
    const auto set = [handle](CURLoption option, auto value) {
      curl().curl_easy_setopt(handle, option, value);
    };
    set(CURLOPT_URL, file_.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "https,http,file");
    // A server may send us elsewhere, but not to files of this machine.
    set(CURLOPT_REDIR_PROTOCOLS_STR, "https,http");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 10L);
    set(CURLOPT_FAILONERROR, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_USERAGENT, "muster/" MUSTER_VERSION);
    set(CURLOPT_CONNECTTIMEOUT, options_.connect_seconds);
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, options_.stalled_seconds);
    set(CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(from_));
    set(CURLOPT_WRITEFUNCTION, &Transfer::on_bytes);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
    set(CURLOPT_XFERINFODATA, this);
  }

  Outcome outcome_of(CURLcode code, long status) const {
    if (stopped_) return Outcome::kStopped;
    if (disk_full_) return Outcome::kDiskFull;
    if (too_long_) return Outcome::kTooLong;
    if (code == CURLE_OK) return Outcome::kComplete;
    // Servers that know no ranges, and parts that are as long as the file or longer.
    constexpr long kRangeNotSatisfiable = 416;
    if (from_ > 0 && (code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME ||
                      status == kRangeNotSatisfiable)) {
      return Outcome::kCannotResume;
    }
    if (code == CURLE_HTTP_RETURNED_ERROR || code == CURLE_UNSUPPORTED_PROTOCOL ||
        code == CURLE_URL_MALFORMAT) {
      return Outcome::kRefused;
    }
    return Outcome::kBroken;
  }

  static std::size_t on_bytes(const char* bytes, std::size_t one, std::size_t count, void* self) {
    return static_cast<Transfer*>(self)->take(bytes, one * count);
  }
  std::size_t take(const char* bytes, std::size_t size) {
    if (file_.size && written_ + size > *file_.size) {
      too_long_ = true;
      return 0;
    }
    const std::size_t taken = std::fwrite(bytes, 1, size, out_);
    if (taken != size) disk_full_ = true;
    written_ += taken;
    return taken;
  }

  static int on_progress(void* self, curl_off_t total, curl_off_t now, curl_off_t /*up_total*/,
                         curl_off_t /*up_now*/) {
    return static_cast<Transfer*>(self)->tell(static_cast<std::uint64_t>(total),
                                              static_cast<std::uint64_t>(now));
  }
  int tell(std::uint64_t total, std::uint64_t now) {
    if (!options_.progress) return 0;
    const std::uint64_t whole = file_.size.value_or(total == 0 ? 0 : total + from_);
    stopped_ = !options_.progress(from_ + now, whole);
    return stopped_ ? 1 : 0;
  }

  const DataFile& file_;
  const FetchOptions& options_;
  std::FILE* out_;
  std::uint64_t from_;
  std::uint64_t written_;
  bool too_long_ = false;
  bool disk_full_ = false;
  bool stopped_ = false;
  std::string message_;
};

std::uint64_t size_of(const fs::path& path) {
  std::error_code code;
  const auto size = fs::file_size(path, code);
  return code ? 0 : size;
}

void discard(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

std::string offline_help(const DataFile& file, const fs::path& place) {
  return fmt::format(
      "Without a connection: get {} by other means, copy it to {}, and run `muster data verify`",
      file.url, place.string());
}

// Brings the rest of `part`, and says why if it could not.
std::optional<Error> download(const DataFile& file, const FetchOptions& options,
                              const fs::path& part, const fs::path& place) {
  std::uint64_t from = size_of(part);
  if (from > 0 && file.size && from >= *file.size) {  // nothing is missing; the checks decide
    if (from == *file.size) return std::nullopt;
    discard(part);
    from = 0;
  }
  // A second round only after a server that could not go on from a part.
  for (int round = 0; round < 2; ++round) {
    std::FILE* out = std::fopen(part.c_str(), from > 0 ? "ab" : "wb");
    if (out == nullptr)
      return Error{fmt::format("{}: cannot be written: {}", part.string(), std::strerror(errno))};
    Transfer transfer(file, options, out, from);
    Outcome outcome = transfer.run();
    if (std::fclose(out) != 0 && outcome == Outcome::kComplete) outcome = Outcome::kDiskFull;
    switch (outcome) {
      case Outcome::kComplete:
        return std::nullopt;
      case Outcome::kCannotResume:
        discard(part);
        from = 0;
        continue;
      case Outcome::kTooLong:
        discard(part);
        return Error{
            fmt::format("{}: refused: the server sent more than the expected {} bytes; the "
                        "download was removed",
                        file.url, *file.size)};
      case Outcome::kDiskFull:
        discard(part);
        return Error{fmt::format("{}: cannot be written: {}; the download was removed",
                                 part.string(), std::strerror(ENOSPC))};
      case Outcome::kStopped:
        return Error{fmt::format(
            "{}: stopped; the part that arrived is kept, and the next fetch continues from it",
            file.path)};
      case Outcome::kRefused:
      case Outcome::kBroken:
        const std::uint64_t came = size_of(part);
        if (came > 0 && outcome == Outcome::kBroken) {
          return Error{fmt::format(
              "{}: the download broke after {} bytes: {}. Fetch again to continue from there. {}",
              file.url, came, transfer.message(), offline_help(file, place))};
        }
        if (came == 0) discard(part);
        return Error{fmt::format("{}: cannot be downloaded: {}. {}", file.url, transfer.message(),
                                 offline_help(file, place))};
    }
  }
  return Error{fmt::format("{}: the server can neither resume nor restart the download", file.url)};
}

// The checks that stand between a download and its place.
Result<Fetched> accepted(const DataFile& file, const FetchOptions& options, const fs::path& part,
                         const fs::path& place) {
  Fetched fetched;
  fetched.path = place;
  fetched.size = size_of(part);
  const Result<std::string> sum = sha256_of_file(part.string());
  if (!sum) return sum.error();
  fetched.sha256 = *sum;
  fetched.verified = !file.sha256.empty();
  const bool wrong_size = file.size && fetched.size != *file.size;
  if (wrong_size || (fetched.verified && *sum != file.sha256)) {
    discard(part);
    return Error{fmt::format(
        "{}: refused and removed: it has {} bytes and SHA-256 {}, but should have {} bytes "
        "and SHA-256 {}. Its authors may have changed it, or something on the way did",
        file.url, fetched.size, *sum,
        file.size ? std::to_string(*file.size) : std::string("any number of"),
        fetched.verified ? file.sha256 : std::string("unknown"))};
  }
  std::error_code code;
  fs::rename(part, place, code);
  if (code) return Error{fmt::format("{}: cannot be written: {}", place.string(), code.message())};
  if (!fetched.verified) {
    const Status remembered = remember_checksum(options.folder, file.path, fetched.sha256);
    if (!remembered) return remembered.error();
  }
  return fetched;
}

}  // namespace

Result<Fetched> fetch_data(const DataFile& file, const FetchOptions& options) {
  const fs::path place = options.folder / file.path;
  DataCheck present = verify_data(file, {options.folder, {}});
  if (present.state == DataState::kMissing) present = verify_data(file, {{}, options.shared});
  // A file without a published checksum can only be checked for existence.
  const bool there = present.state == DataState::kGood || present.state == DataState::kSeen ||
                     (present.state == DataState::kUnverified && present.path != place);
  if (there) {
    const bool verified = present.state == DataState::kGood;
    return Fetched{present.path, size_of(present.path),
                   verified ? file.sha256 : seen_checksum(options.folder, file.path), true,
                   verified};
  }
  if (file.sha256.empty() && !options.accept_unverified) {
    return Error{
        fmt::format("{}: no checksum of this file is published, so Muster cannot verify it. Look "
                    "at {} first, then fetch it with --accept-unverified",
                    file.path, file.url)};
  }
  std::error_code code;
  fs::create_directories(place.parent_path(), code);
  if (code) {
    return Error{fmt::format("{}: the folder cannot be created: {}", place.parent_path().string(),
                             code.message())};
  }
  const Result<std::string> target = replaceable_path(place.string());
  if (!target) return target.error();
  const fs::path part = *target + ".part";
  if (std::optional<Error> error = download(file, options, part, place)) return *std::move(error);
  return accepted(file, options, part, *target);
}

}  // namespace muster
