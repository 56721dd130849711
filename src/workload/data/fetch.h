// Downloads a file of the catalogue into the data folder.
//
// The bytes go to a file beside the final place, named .part; only a file of the right size and
// checksum is moved there. A connection that broke leaves its part, and the next fetch goes on from
// it; anything that was answered wrongly (short, long, other bytes) is refused, with both sums, and
// removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"
#include "workload/data/catalogue.h"

namespace muster {

struct FetchOptions {
  std::filesystem::path folder;
  std::filesystem::path shared = {};  // a good file here need not be fetched; empty: not looked at
  bool* offline = nullptr;            // set where no connection could be made at all
  bool accept_unverified = false;     // take files for which no checksum is published
  long connect_seconds = 30;
  long stalled_seconds = 60;  // give up when nothing comes for so long
  // Called about once per second and at the end; false stops the download. `total` is 0 while
  // unknown.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
};

struct Fetched {
  std::filesystem::path path;
  std::uint64_t size = 0;
  std::string sha256;
  bool was_there = false;  // and good: nothing was downloaded
  bool verified = false;   // against a published checksum
};

Result<Fetched> fetch_data(const DataFile& file, const FetchOptions& options);

}  // namespace muster
