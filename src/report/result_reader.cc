#include "report/result_reader.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/out_file.h"
#include "base/text.h"
#include "report/result_folder.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// A file mapped for reading: jobs.csv of a long run does not fit into memory, and need not.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return file_error("read", path, errno);
    struct stat facts {};
    MappedFile file;
    bool good = ::fstat(descriptor, &facts) == 0;
    file.size_ = static_cast<std::size_t>(facts.st_size);
    if (good && file.size_ > 0) {
      file.data_ = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
      good = file.data_ != MAP_FAILED;
    }
    const int code = errno;
    ::close(descriptor);
    if (!good) {
      file.data_ = nullptr;
      return file_error("read", path, code);
    }
    return file;
  }
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  std::string_view text() const {
    return {static_cast<const char*>(data_), data_ == nullptr ? 0 : size_};
  }

 private:
  MappedFile() = default;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Turns the fields of one line into values; the first that is not what it should be is remembered.
class Fields {
 public:
  Fields(const std::string& path, std::string_view header)
      : path_(path), names_(split(header, ',')) {}

  Status check_header(const std::vector<std::string>& found) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (i >= found.size() || found[i] != names_[i]) {
        return Error{fmt::format("{}, line 1: column {} is '{}', expected '{}'", path_, i + 1,
                                 i < found.size() ? found[i] : "missing", names_[i])};
      }
    }
    return Done{};
  }
  // Columns to the right of ours are passed over, missing ones are not.
  void take(const std::vector<std::string>* fields) {
    fields_ = fields;
    next_ = 0;
    ++line_;
    if (fields->size() < names_.size() && error_.empty()) {
      error_ = fmt::format("{}, line {}: {} fields, expected {}; the file was cut off or changed",
                           path_, line_ + 1, fields->size(), names_.size());
    }
  }
  bool good() const { return error_.empty(); }
  const std::string& error() const { return error_; }

  const std::string& text() { return next(); }
  double number(double if_empty) {
    const std::string& field = next();
    if (field.empty()) return if_empty;
    const auto value = parse_real(field);
    if (!value) complain(field, "a number");
    return value.value_or(0);
  }
  std::int64_t integer() {
    const std::string& field = next();
    const auto value = parse_integer(field);
    if (!value) complain(field, "a whole number");
    return value.value_or(0);
  }
  template <typename Enum>
  Enum name(Enum last, std::string_view (*name_of)(Enum)) {
    const std::string& field = next();
    for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i) {
      if (name_of(static_cast<Enum>(i)) == field) return static_cast<Enum>(i);
    }
    complain(field, "a name of this version");
    return Enum{};
  }

 private:
  const std::string& next() {
    static const std::string kNothing;
    if (!good()) return kNothing;
    return (*fields_)[next_++];
  }
  void complain(const std::string& field, std::string_view expected) {
    if (!good()) return;
    error_ = fmt::format("{}, line {}, column {}: found '{}', expected {}", path_, line_ + 1,
                         names_[next_ - 1], field, expected);
  }

  const std::string& path_;
  std::vector<std::string_view> names_;
  const std::vector<std::string>* fields_ = nullptr;
  std::size_t next_ = 0;
  std::size_t line_ = 0;
  std::string error_;
};

// Calls `visit` for each line below a checked header.
Status for_each_line(const std::string& path, std::string_view header,
                     const std::function<bool(Fields&)>& visit) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  std::string_view rest = file->text();
  std::vector<std::string> record;
  Fields fields(path, header);
  if (!next_csv_record(rest, record)) return Error{fmt::format("{} is empty", path)};
  if (Status checked = fields.check_header(record); !checked) return checked;
  while (next_csv_record(rest, record)) {
    fields.take(&record);
    if (fields.good() && !visit(fields)) break;
    if (!fields.good()) return Error{fields.error()};
  }
  return Done{};
}

JobRecord read_job(Fields& fields, Symbols& symbols) {
  JobRecord job;
  job.id = JobId{static_cast<std::uint32_t>(fields.integer())};
  job.submit = fields.number(0);
  job.start = fields.number(kNever);
  job.end = fields.number(kNever);
  fields.number(0);  // jct_s follows from the others
  job.queue = fields.number(0);
  job.gpus = static_cast<int>(fields.integer());
  job.status = fields.name(JobState::kCancelled, &job_state_name);
  job.reason = fields.name(kLastReason, &reason_name);
  job.preemptions = static_cast<int>(fields.integer());
  job.name = fields.text();
  job.arrival = fields.number(0);
  job.duration = fields.number(0);
  job.restarts = static_cast<int>(fields.integer());
  job.resizes = static_cast<int>(fields.integer());
  job.gpu_seconds = fields.number(0);
  job.lost_work = fields.number(0);
  job.overhead = fields.number(0);
  job.deadline = fields.number(kNever);
  job.user = symbols.intern(fields.text());
  job.partition = symbols.intern(fields.text());
  job.model = symbols.intern(fields.text());
  const Seconds lateness = fields.number(kNever);
  if (lateness != kNever && lateness != job.lateness()) job.done = job.deadline + lateness;
  job.value = fields.number(0);
  job.best_value = fields.number(0);
  job.priority = static_cast<int>(fields.integer());
  job.cost = fields.number(0);
  return job;
}

}  // namespace

Result<ResultFolder> ResultFolder::open(const std::string& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) {
    return Error{
        fmt::format("{} is not a folder; name the folder that a run wrote its results to", path)};
  }
  const std::string file = path + "/summary.json";
  auto text = read_file(file);
  if (!text) {
    return Error{fmt::format("{} is not a muster result: it has no readable summary.json ({})",
                             path, text.error().message)};
  }
  auto summary = summary_from_json(*text, file);
  if (!summary) return summary.error();
  return ResultFolder(path, std::move(*summary));
}

Result<Timeline> ResultFolder::timeline() const {
  Timeline result;
  const Status read =
      for_each_line(path_ + "/timeline.csv", timeline_csv_header(), [&](Fields& fields) {
        TimelineBucket bucket;
        for (double* const value :
             {&bucket.start, &bucket.held, &bucket.waiting, &bucket.running, &bucket.usable_gpus,
              &bucket.used_gpus, &bucket.demanded_gpus, &bucket.stops}) {
          *value = fields.number(0);
        }
        result.buckets.push_back(bucket);
        return true;
      });
  if (!read) return read.error();
  result.width = result.buckets.size() < 2 ? 1 : result.buckets[1].start - result.buckets[0].start;
  return result;
}

bool ResultFolder::has_jobs() const {
  std::error_code code;
  return fs::exists(path_ + "/jobs.csv", code);
}

bool ResultFolder::has_decisions() const {
  std::error_code code;
  return fs::exists(path_ + "/decisions.bin", code);
}

Result<DecisionReader> ResultFolder::decisions() const {
  if (!has_decisions()) {
    return Error{fmt::format(
        "{} has no decisions.bin: the run was made without recording its decisions", path_)};
  }
  return DecisionReader::open(path_ + "/decisions.bin");
}

Status ResultFolder::for_each_job(Symbols& symbols,
                                  const std::function<bool(const JobRecord&)>& visit) const {
  return for_each_line(path_ + "/jobs.csv", jobs_csv_header(), [&](Fields& fields) {
    const JobRecord job = read_job(fields, symbols);
    return !fields.good() || visit(job);
  });
}

Result<std::map<std::string, std::string>> ResultFolder::inputs() const {
  std::map<std::string, std::string> result;
  std::error_code code;
  for (fs::directory_iterator entry(path_ + "/inputs", code), end; !code && entry != end;
       entry.increment(code)) {
    auto text = read_file(entry->path().string());
    if (!text) return text.error();
    result[entry->path().filename().string()] = std::move(*text);
  }
  if (code) return file_error("list", path_ + "/inputs", code.value());
  return result;
}

}  // namespace muster
