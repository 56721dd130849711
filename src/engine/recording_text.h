// Recordings as text, one entry at a time. This is an internal part of engine/recording.h; use
// that.
#pragma once

#include <string>

#include "engine/recording.h"

namespace muster {

// What the backend and the source say of themselves once and for all.
struct RecordingKind {
  bool has_external_events = false;
  bool answers_later = false;
  bool numbers_jobs = false;
};
std::string recording_header(const RecordingKind& kind);
std::string recording_end();
// One line, or several where events belong to it; each ends with a line break.
std::string text_of(const Recording::Entry& entry, const Symbols& symbols);

}  // namespace muster
