// Comma-separated values as results use them: fast appending, and reading of what was written (RFC
// 4180).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// Most bytes that a number can take.
inline constexpr std::size_t kNumberRoom = 32;

// These write at `at` and return the place after the text. The caller has made room: kNumberRoom
// for a number, twice its size and two for a field.
char* put_integer(char* at, std::int64_t value);
// The text of exact_text. Infinities and NaN become an empty field.
char* put_number(char* at, double value);
// Quoted where commas, quotes, line breaks or blanks around it ask for it.
char* put_field(char* at, std::string_view text);

// The same at the end of a string.
void append_integer(std::string& out, std::int64_t value);
void append_number(std::string& out, double value);
void append_field(std::string& out, std::string_view text);

// Splits one record from the front of `rest` and moves `rest` past it. False when nothing is left.
// A quoted field may hold line breaks; the last line needs no line end. Blanks around a field that
// is not quoted do not count.
bool next_csv_record(std::string_view& rest, std::vector<std::string>& fields,
                     char separator = ',');

}  // namespace muster
