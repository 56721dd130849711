// What the daemon and the process of a policy say to each other, over a socket of their own.
//
// A message is the length of the rest in four bytes (least first), its kind in one, and a payload.
// The daemon asks; the process may ask for columns of the question before it answers:
//
//   daemon  M  make: {"instance", "kind", "name", "parameters"}     answered with R
//           C  copy: {"instance", "of"}                             answered with R
//           D  drop: {"instance"}                                   not answered
//           Q  question: {"instance", "now", "jobs", "gpus", ...}   answered with N, I, W or O
//           V  value: what G asked for: its type (f, i, ? or t), then numbers, or texts as JSON
//   process H  hello: {"version"}
//           R  ready: what the policy declares
//           G  get: the name of a column, as jobs.gpus
//           N  numbers, I integers, W a word, O nothing
//           E  error: the traceback
//
// Whatever the process says is checked here; it can neither crash nor hold up the daemon.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/symbols.h"
#include "policy/outside/respondent.h"

namespace muster {

struct Message {
  char kind = 0;
  std::string payload;
};

// No message is longer: it would be a process gone wild.
inline constexpr std::size_t kLongestMessage = std::size_t{64} << 20U;

std::string framed(char kind, std::string_view payload);

// Bytes in, messages out.
class MessageReader {
 public:
  void add(std::string_view bytes) { bytes_.append(bytes); }
  bool empty() const { return bytes_.empty(); }
  // Nothing while it is not whole. After an error there is nothing more to be read.
  Result<std::optional<Message>> next();

 private:
  std::string bytes_;
};

Result<Declared> read_declaration(std::string_view text);
std::string declaration_text(const Declared& declared);

// Takes the answer apart; the form says which kind is expected.
Status read_answer(const Message& message, const std::string& form, PolicyAnswer& answer);

std::string question_text(const PolicyQuestion& question, std::uint64_t instance);
// The value of that name, as the payload of V.
Result<std::string> value_of(const PolicyQuestion& question, std::string_view name,
                             const Symbols& symbols);

}  // namespace muster
