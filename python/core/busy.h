// Whether somebody is inside an object whose calls release the interpreter. A second thread would
// change what the first one works on: it is refused.
#pragma once

#include <atomic>

#include "core/parts.h"

namespace muster::python {

class Busy {
 public:
  // Inside, for as long as it lives.
  class Inside {
   public:
    explicit Inside(Busy& busy) : busy_(busy) {
      if (busy_.taken_.exchange(true)) {
        throw MusterError("it is in use by another thread, or by a policy that it is asking");
      }
    }
    ~Inside() { busy_.taken_ = false; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Busy& busy_;
  };

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace muster::python
