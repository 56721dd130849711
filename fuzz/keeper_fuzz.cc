// What a keeper reads: orders, exit records, and lines of jobs. An order that is accepted is
// written and read back as it was, and the desk stays within bounds whatever clients say.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "agent/keeper/exit_record.h"
#include "agent/keeper/job_desk.h"
#include "agent/keeper/order.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto order = muster::parse_order(text)) {
    const auto again = muster::parse_order(muster::order_text(*order));
    if (!again || !(*again == *order)) std::abort();
  }
  if (const auto record = muster::parse_record(text)) {
    if (!muster::parse_record(muster::record_text(*record))) std::abort();
  }
  muster::JobDesk desk({1, 1, "t", true});
  int client = 0;
  for (const std::string_view line : muster::split(text, '\n')) {
    if (line == "leave") desk.ask_to_leave();
    if (!desk.heard(client % 3, line, 1)) desk.closed(client % 3);
    ++client;
    if (desk.take_replies().size() > 4 || desk.take_news().size() > 4) std::abort();
  }
  return 0;
}
