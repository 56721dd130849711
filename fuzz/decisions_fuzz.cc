// decisions.bin as somebody else might have written it: whatever the bytes, reading ends with
// decisions or with an error, never with anything else. An even first byte feeds the record
// decoder, which sees what was compressed; an odd one the reader of whole files.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "report/decision_coding.h"
#include "report/decision_log.h"

namespace {

void decode_records(const char* data, std::size_t size) {
  muster::DecisionContext context;
  muster::Decision decision;
  muster::GpuSet placement;
  std::uint64_t total = 0;
  const char* at = data;
  while (muster::decode_decision(&at, data + size, context, decision, placement, total) ==
         muster::Decoded::kRecord) {
    if (decision.action > muster::kLastAction || decision.reason > muster::kLastReason)
      std::abort();
    if (placement.gpus() < 0) std::abort();
  }
}

void read_file(const char* data, std::size_t size) {
  // The reader takes a path: a file in memory has one.
  static const int kFile = memfd_create("decisions", 0);
  if (kFile < 0 || ftruncate(kFile, 0) != 0) std::abort();
  if (pwrite(kFile, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  auto reader = muster::DecisionReader::open("/proc/self/fd/" + std::to_string(kFile));
  if (!reader) return;
  while (reader->next() != nullptr) {
  }
  static_cast<void>(reader->status());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const char* rest = reinterpret_cast<const char*>(data) + 1;
  if (data[0] % 2 == 0) {
    decode_records(rest, size - 1);
  } else {
    read_file(rest, size - 1);
  }
  return 0;
}
