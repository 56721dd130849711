// What the other end of a stream can show.
#pragma once

namespace muster {

bool is_terminal(int descriptor);
// Colour is for terminals, unless NO_COLOR is set or the terminal is "dumb".
bool wants_colour(int descriptor);
// Columns of the terminal; 80 when it does not tell.
int terminal_width(int descriptor);

}  // namespace muster
