#include "daemon/rank_log.h"

#include <algorithm>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "agent/keeper/log_file.h"

namespace muster {
namespace {

// A file that stays the same while it is renamed.
class OpenLog {
 public:
  explicit OpenLog(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {
    struct stat about {};
    if (file_ < 0 || fstat(file_, &about) != 0) return;
    inode_ = about.st_ino;
    size_ = about.st_size;
  }
  OpenLog(OpenLog&& other) noexcept
      : file_(std::exchange(other.file_, -1)), inode_(other.inode_), size_(other.size_) {}
  OpenLog& operator=(OpenLog&&) = delete;
  ~OpenLog() {
    if (file_ >= 0) close(file_);
  }
  bool there() const { return file_ >= 0; }
  std::uint64_t inode() const { return inode_; }
  std::int64_t size() const { return size_; }
  std::string read(std::int64_t at, std::size_t most) const {
    std::string text(most, '\0');
    const ssize_t count = pread(file_, text.data(), most, at);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }

 private:
  int file_;
  std::uint64_t inode_ = 0;
  std::int64_t size_ = 0;
};

// The latest first, each once: one may be renamed while we look.
std::vector<OpenLog> open_all(const std::string& path) {
  std::vector<OpenLog> files;
  // Between two renames one name stands for nothing.
  for (int older = 0, missing = 0; missing < 2; ++older) {
    OpenLog file(older == 0 ? path : older_log(path, older));
    missing = file.there() ? 0 : missing + 1;
    if (!file.there()) continue;
    const bool seen = std::any_of(files.begin(), files.end(), [&file](const OpenLog& one) {
      return one.inode() == file.inode();
    });
    if (!seen) files.push_back(std::move(file));
  }
  return files;
}

// Where the latest file begins.
std::int64_t begin_of(const std::vector<OpenLog>& files, const std::optional<LogPlace>& place) {
  if (place) {
    const bool latest = files.front().inode() == place->inode;
    return latest ? place->begin : place->begin - files.front().size();
  }
  std::int64_t before = 0;
  for (std::size_t i = 1; i < files.size(); ++i) before += files[i].size();
  return before;
}

}  // namespace

LogPart read_rank_log(const std::filesystem::path& path, std::int64_t offset, std::size_t most) {
  const std::string name = path.string();
  std::vector<OpenLog> files;
  std::optional<LogPlace> place;
  // What is rotated meanwhile is looked at again.
  constexpr int kTries = 100;
  bool still = false;
  for (int i = 0; i < kTries && !still; ++i) {
    place = read_log_place(name);
    files = open_all(name);
    still = read_log_place(name) == place;
  }
  if (files.empty() || !still) return {offset, {}};
  std::int64_t begin = begin_of(files, place);
  for (auto file = files.begin(); file != files.end(); ++file) {
    const bool oldest = file + 1 == files.end();
    if (offset >= begin || oldest) {
      LogPart part{std::max(offset, begin), {}};
      part.text = file->read(part.begin - begin, most);
      // The end of one file is the beginning of the next.
      if (!part.text.empty() || file == files.begin()) return part;
      part.text = (file - 1)->read(0, most);
      return part;
    }
    begin -= (file + 1)->size();
  }
  return {offset, {}};
}

}  // namespace muster
