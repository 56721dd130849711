// One scontrol that is kept and told many things: a few milliseconds each instead of a process for
// each. What it answers to a command is all that it prints before it complains about a word that
// nobody else says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/slurm/child.h"

namespace muster {

class ScontrolLine {
 public:
  explicit ScontrolLine(double seconds) : seconds_(seconds) {}

  // Words must be plain: scontrol reads them from a line. An answer in words is a complaint.
  Status tell(const std::vector<std::string>& words);

  // Whether a word can be said in a line and means itself.
  static bool plain(const std::string& word);

 private:
  // Unless it is there already.
  Status start();
  Result<std::string> answer_to(const std::string& line, const std::string& last_word);

  double seconds_;
  std::optional<Child> child_;
  unsigned long long said_ = 0;
};

}  // namespace muster
