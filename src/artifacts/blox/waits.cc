#include "artifacts/blox/waits.h"

#include "artifacts/variant.h"

namespace muster {
namespace {

Seconds after_the_round(const Job& job, const View& view) {
  return job.waiting_since + (job.state == JobState::kPreempted ? view.turn_length : 0);
}

const char kFifo[] = "fifo";
const char kLas[] = "las";
const char kSrtf[] = "srtf";

template <const char* General>
std::unique_ptr<SchedulingPolicy> make_as_coded(const Params& params) {
  auto policy = (*find_row("scheduling policy", scheduling_table(), General))->make(params);
  auto* order = dynamic_cast<KeyPolicy*>(policy.get());
  assert(order != nullptr && "the policies that boost are orders by a key");
  order->count_waits_from(after_the_round);
  return policy;
}

template <const char* General>
PolicyInfo<SchedulingPolicy> as_coded(std::string_view name, std::string_view sentence) {
  auto row = variant_of<SchedulingPolicy>(scheduling_table(), General, name, sentence,
                                          make_as_coded<General>);
  row.source = "Blox, 2024";
  if (!row.system.empty()) row.form = "the simulator of Blox";
  return row;
}

}  // namespace

std::vector<PolicyInfo<SchedulingPolicy>> blox_scheduling_rows() {
  auto optimus = as_coded<kSrtf>(
      "optimus-as-coded",
      "Optimus as coded in Blox: the order of srtf, because its spare GPUs never reach placement; "
      "use it with the performance model of the same name");
  optimus.system = "Optimus";
  optimus.form = "the simulator of Blox";
  return {
      as_coded<kFifo>("fifo-as-coded",
                      "as fifo, and the round that stops a job does not count as waiting"),
      as_coded<kLas>("las-as-coded",
                     "as las, and the round that stops a job does not count as waiting"),
      as_coded<kSrtf>("srtf-as-coded",
                      "as srtf, and the round that stops a job does not count as waiting"),
      optimus,
  };
}

}  // namespace muster
