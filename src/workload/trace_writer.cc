#include "workload/trace_writer.h"

#include <array>
#include <bit>
#include <utility>

#include "base/text.h"
#include "workload/byte_output.h"
#include "workload/trace_lines.h"

namespace muster {
namespace {

class LineWriter final : public TraceWriter {
 public:
  LineWriter(std::unique_ptr<ByteOutput> output, std::unique_ptr<LineFormat> format)
      : output_(std::move(output)), format_(std::move(format)), pending_(format_->header()) {}

  Status write(const JobSpec& job) override {
    JobProperties lost = properties_of(job) & ~format_->carried();
    format_->append(job, jobs_, pending_, lost);
    ++jobs_;
    for (; lost != 0; lost &= lost - 1) ++lost_[static_cast<std::size_t>(std::countr_zero(lost))];
    constexpr std::size_t kChunk = std::size_t{1} << 16;
    return pending_.size() < kChunk ? Status(Done{}) : flush();
  }
  Status finish() override {
    if (const Status done = flush(); !done) return done;
    return output_->finish();
  }
  std::vector<Loss> losses() const override {
    std::vector<Loss> losses;
    for (std::size_t bit = 0; bit < lost_.size(); ++bit) {
      if (lost_[bit] > 0) losses.push_back({std::string(property_text(bit)), lost_[bit]});
    }
    return losses;
  }
  std::uint64_t jobs() const override { return jobs_; }

 private:
  Status flush() {
    const Status done = output_->write(pending_);
    pending_.clear();
    return done;
  }

  std::unique_ptr<ByteOutput> output_;
  std::unique_ptr<LineFormat> format_;
  std::string pending_;
  std::uint64_t jobs_ = 0;
  std::array<std::uint64_t, job_property::kCount> lost_{};  // jobs, by property
};

}  // namespace

const std::vector<WritableFormat>& writable_formats() {
  static const std::vector<WritableFormat> kFormats = {
      {"muster", "everything, exactly"},
      {"gavel", "10 columns; steps are the iterations, or the seconds where those are unknown"},
      {"tiresias", "whole seconds"},
      {"philly-csv", "timestamps; a trace that begins at 0 begins on 2017-09-01"},
      {"swf", "18 fields, whole seconds, GPUs as processors, names as numbers"},
  };
  return kFormats;
}

Result<std::unique_ptr<TraceWriter>> create_trace(const std::string& path, std::string_view format,
                                                  const Symbols& symbols) {
  auto lines = make_lines(format, symbols);
  if (lines == nullptr) {
    std::vector<std::string_view> names;
    for (const WritableFormat& known : writable_formats()) names.push_back(known.name);
    return Error{unknown_name("format to write traces in", format, names)};
  }
  auto output = create_bytes(path);
  if (!output) return output.error();
  return std::unique_ptr<TraceWriter>(
      std::make_unique<LineWriter>(std::move(*output), std::move(lines)));
}

}  // namespace muster
