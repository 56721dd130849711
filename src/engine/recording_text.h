// Recordings as text, one entry at a time. Use engine/recording.h; this is its other half.
#pragma once

#include <string>

#include "engine/recording.h"

namespace muster {

std::string recording_header(bool has_external_events, bool answers_later = false);
std::string recording_end();
// One line, or several for a wait with its events; each ends with a line break.
std::string text_of(const Recording::Entry& entry, const Symbols& symbols);

}  // namespace muster
