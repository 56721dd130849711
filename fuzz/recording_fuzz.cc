// The reader of recordings: whatever the bytes are, it answers with a recording or a complaint; and
// a recording that it has read is written and read again to the same text.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/recording_text.h"

namespace {

std::string written(const muster::Recording& recording, const muster::Symbols& symbols) {
  std::string text = muster::recording_header({.has_external_events = recording.has_external_events,
                                               .answers_later = recording.answers_later,
                                               .numbers_jobs = recording.numbers_jobs});
  for (const auto& entry : recording.entries) text += muster::text_of(entry, symbols);
  if (recording.complete) text += muster::recording_end();
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::Symbols symbols;
  const auto first =
      muster::read_recording(std::string_view(reinterpret_cast<const char*>(data), size), symbols);
  if (!first) return 0;
  const std::string text = written(*first, symbols);
  const auto second = muster::read_recording(text, symbols);
  if (!second || written(*second, symbols) != text) {
    std::fputs("a recording was not read as it was written\n", stderr);
    std::abort();
  }
  return 0;
}
