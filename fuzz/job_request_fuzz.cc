// Submissions: whatever is accepted reads back as it was written, and nothing crashes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

#include "daemon/http/http.h"
#include "daemon/job_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string path;
  std::map<std::string, std::string> query;
  muster::parse_target(text, path, query);
  const auto request = muster::parse_job_request(text);
  if (!request) return 0;
  const auto again = muster::parse_job_request(muster::job_request_text(*request));
  if (!again) std::abort();
  return 0;
}
