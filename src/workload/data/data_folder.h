// Where downloaded data is, and how commands find it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/data/catalogue.h"

namespace muster {

struct DataPlaces {
  std::filesystem::path
      folder;  // where fetch puts files: MUSTER_DATA, else muster under XDG_DATA_HOME, else
               // ~/.local/share/muster
  std::filesystem::path
      shared;  // the folder `data` of the one that MUSTER_SHARED names, else ../shared/data
};

// From the environment; a `folder` that is not empty replaces the first.
DataPlaces data_places(const std::string& folder = {});

// The file of that path, or the only file of the set of that name: in the data folder, else in the
// shared one. The error names the missing file, where it was looked for, and the command that
// brings it.
Result<std::filesystem::path> locate_data(std::string_view name, const Catalogue& catalogue,
                                          const DataPlaces& places);
// The same with Muster's own catalogue and the environment.
Result<std::filesystem::path> locate_data(std::string_view name);

enum class DataState {
  kMissing,
  kGood,        // size and checksum are those of the catalogue
  kSeen,        // no checksum is published; it is the one that was seen when it was fetched
  kUnverified,  // no checksum is published, and none was seen
  kWrong,
  kUnreadable,
};

struct DataCheck {
  DataState state = DataState::kMissing;
  std::filesystem::path path;  // where it was found
  std::string problem;         // for kWrong and kUnreadable: what is wrong
};

// Reads the whole file.
DataCheck verify_data(const DataFile& file, const DataPlaces& places);
// Whether there is a file of the right size; fast.
DataCheck look_for_data(const DataFile& file, const DataPlaces& places);

// The checksums of unverified files as they were seen, in the form of sha256sum, in the data
// folder.
std::string seen_checksum(const std::filesystem::path& folder, std::string_view path);
Status remember_checksum(const std::filesystem::path& folder, std::string_view path,
                         std::string_view sha256);

}  // namespace muster
