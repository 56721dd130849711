#include "support/temporary_folder.h"

#include <fstream>
#include <iterator>
#include <stdlib.h>
#include <system_error>

#include <gtest/gtest.h>

namespace muster {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    ADD_FAILURE() << "cannot make a temporary folder " << pattern;
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::write(const std::filesystem::path& name,
                                             std::string_view content) const {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  EXPECT_TRUE(stream.good()) << "cannot write " << file;
  return file;
}

std::string TemporaryFolder::read(const std::filesystem::path& name) const {
  std::ifstream stream(path_ / name, std::ios::binary);
  EXPECT_TRUE(stream.good()) << "cannot read " << path_ / name;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace muster
