// Small text tools: strict number parsing, near-miss suggestions, joining. Parsing never accepts a
// prefix: "12x" is not 12.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
// The parts point into the text: it must not be a temporary one, which a loop over them outlives.
template <std::same_as<std::string> Text>
void split(Text&& text, char separator) = delete;

std::optional<double> parse_real(std::string_view text);  // accepts inf and nan: callers decide
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<bool> parse_flag(std::string_view text);  // true/false, yes/no, on/off, 1/0

// The known name nearest to `wrong` by edit distance, if it is near enough to be a likely slip.
std::optional<std::string_view> nearest(std::string_view wrong,
                                        std::span<const std::string_view> known);

// Whether people mean the same name: case, '-' or '_', and -isation or -ization do not matter.
bool same_name(std::string_view a, std::string_view b);

// "no policy 'lass'; did you mean 'las'? known: fifo, las, srtf"
std::string unknown_name(std::string_view kind, std::string_view wrong,
                         std::span<const std::string_view> known);

// Shortest decimal text that reads back as the same double.
std::string exact_text(double value);

// To so many decimals, as it would be printed.
double rounded(double value, int decimals);

}  // namespace muster
