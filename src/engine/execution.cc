#include "engine/execution.h"

namespace muster {
namespace {

class Turns final : public Execution {
 public:
  explicit Turns(Engine::Parts parts) : engine_(std::move(parts)) {}
  Result<bool> run(const std::function<bool()>& keep_going) override {
    bool stopped = false;
    const Status status = engine_.run([&] {
      stopped = keep_going && !keep_going();
      return !stopped;
    });
    if (!status) return status.error();
    return !stopped;
  }
  Engine* engine() override { return &engine_; }

 private:
  Engine engine_;
};

}  // namespace

const std::vector<ExecutionInfo>& execution_table() {
  static const std::vector<ExecutionInfo> kTable = {
      {"turns",
       "jobs hold GPUs from turn to turn, as placement says",
       "folklore",
       [](ExecutionParts parts) -> Result<std::unique_ptr<Execution>> {
         return std::unique_ptr<Execution>(std::make_unique<Turns>(std::move(parts.engine)));
       },
       {},
       true,
       false,
       true},
  };
  return kTable;
}

}  // namespace muster
