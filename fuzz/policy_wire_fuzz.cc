// What the process of a policy may send to the daemon: frames, what it declares, its answers.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "daemon/outside/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array kForms = {"key", "order", "allocate", "fractions", "admit", "find"};
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  muster::MessageReader reader;
  // In two parts, cut anywhere: what comes out must not depend on it.
  const std::size_t cut = size == 0 ? 0 : data[0] % (size + 1);
  reader.add(std::string_view(bytes).substr(0, cut));
  bool rest_added = false;
  while (true) {
    auto message = reader.next();
    if (!message) return 0;
    if (!*message) {
      if (rest_added) break;
      reader.add(std::string_view(bytes).substr(cut));
      rest_added = true;
      continue;
    }
    const std::string again = muster::framed((*message)->kind, (*message)->payload);
    if (again.size() != (*message)->payload.size() + 5) std::abort();
    muster::PolicyAnswer answer;
    for (const char* form : kForms) {
      const bool read = static_cast<bool>(muster::read_answer(**message, form, answer));
      const std::size_t held = 8 * (answer.numbers.size() + answer.integers.size());
      if (read && held > (*message)->payload.size()) std::abort();
    }
    const auto declared = muster::read_declaration((*message)->payload);
    if (!declared) continue;
    // What is written reads back as the same.
    const std::string text = muster::declaration_text(*declared);
    const auto twice = muster::read_declaration(text);
    if (!twice || muster::declaration_text(*twice) != text) std::abort();
  }
  return 0;
}
