// The catalogue of public data: what each reproduction needs, where its authors publish it, under
// which licence, and the size and SHA-256 of every file. It is the file data/catalogue.toml, not
// code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace muster {

struct DataFile {
  std::string path;  // under the data folder, with '/' between
  std::string url;
  std::optional<std::uint64_t> size;
  std::string sha256;  // lower case; empty: not known, because no original was at hand
};

struct DataSet {
  std::string name;
  std::string what;
  std::string used_for;
  std::string authors;
  std::string home;  // for people
  std::string licence;
  std::string notes;
  std::vector<DataFile> files;

  // Of the files whose size is known.
  std::uint64_t size() const;
};

struct Catalogue {
  std::vector<DataSet> sets;

  // A set by its name, or one file by its path: the set, and the file or null for all of them. The
  // error suggests the nearest name.
  Result<std::pair<const DataSet*, const DataFile*>> find(std::string_view name) const;
};

// `file` names the text in messages.
Result<Catalogue> parse_catalogue(std::string_view text, std::string_view file);
Result<Catalogue> read_catalogue(const std::string& file);

// The catalogue that comes with Muster: data/catalogue.toml in the folder that MUSTER_HOME names,
// else beside the command, installed or in a source tree.
Result<Catalogue> own_catalogue();

}  // namespace muster
