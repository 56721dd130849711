// What the other end of a stream can show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

bool is_terminal(int descriptor);
// Colour is for terminals, unless NO_COLOR is set or the terminal is "dumb".
bool wants_colour(int descriptor);
// Columns of the terminal; 80 when it does not tell.
int terminal_width(int descriptor);

// How many columns a text takes on a terminal; counts code points, wide ones twice.
std::size_t display_width(std::string_view text);

// Breaks lines that are wider than `width` at blanks. The rest of a line goes below the beginning
// of its last column, where it has columns (two blanks or more apart), and is indented otherwise.
std::string fitted(std::string_view text, std::size_t width);

// Prints to standard output; on a terminal, with lines that fit it.
void print_fitted(std::string_view text);

}  // namespace muster
