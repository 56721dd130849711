// Changes of jobs, nodes and the daemon: requests to the engine's thread.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "daemon/api/api.h"
#include "daemon/core.h"

namespace muster {

std::function<void(const Status&)> Api::answer_to_change(const ApiCall& call, int refused) const {
  return [reply = call.reply, refused, this](const Status& status) {
    if (!status) {
      return reply(error_response(parts_.frozen().empty() ? refused : 503, status.error().message));
    }
    HttpResponse response;
    response.body = "{\"done\":true}\n";
    reply(std::move(response));
  };
}

void Api::change_job(const ApiCall& call, std::function<Status(Core&, JobId)> work) {
  const std::optional<BoardJob> job = job_of(call);
  if (!job) return;
  const JobId id = job->row->id;
  parts_.ask({[work = std::move(work), id](Core& core) { return work(core, id); },
              answer_to_change(call, 409)});
}

void Api::cancel(const ApiCall& call) {
  change_job(call, [who = call.caller.name](Core& core, JobId job) {
    return core.cancel(job, fmt::format("{} cancelled it", who));
  });
}

void Api::hold(const ApiCall& call) {
  change_job(call, [who = call.caller.name](Core& core, JobId job) {
    return core.hold(job, fmt::format("{} holds it back", who));
  });
}

void Api::release(const ApiCall& call) {
  change_job(call, [](Core& core, JobId job) { return core.release(job); });
}

void Api::revise(const ApiCall& call) {
  const nlohmann::json change = nlohmann::json::parse(call.request.body, nullptr, false);
  if (!change.is_object() || change.empty()) {
    return call.reply(error_response(400, "expected an object with what is to be changed"));
  }
  std::vector<std::pair<std::string, double>> changes;
  for (const auto& [name, value] : change.items()) {
    if (!value.is_number()) {
      return call.reply(
          error_response(400, fmt::format("'{}' is not a number", name.substr(0, 64))));
    }
    changes.emplace_back(name, value.get<double>());
  }
  change_job(call, [changes](Core& core, JobId job) { return core.revise(job, changes); });
}

void Api::set_drained(const ApiCall& call, bool drained) {
  const std::string why = drained ? fmt::format("{} drained it", call.caller.name) : std::string();
  parts_.ask(
      {[name = call.name, drained, why](Core& core) { return core.drain(name, drained, why); },
       answer_to_change(call, 404)});
}

void Api::drain(const ApiCall& call) { set_drained(call, true); }
void Api::undrain(const ApiCall& call) { set_drained(call, false); }

void Api::reload(const ApiCall& call) { parts_.reload(answer_to_change(call, 409)); }

void Api::shut_down(const ApiCall& call) {
  const nlohmann::json body = call.request.body.empty()
                                  ? nlohmann::json::object()
                                  : nlohmann::json::parse(call.request.body, nullptr, false);
  if (!body.is_object()) return call.reply(error_response(400, "expected an object"));
  bool drain = false;
  for (const auto& [name, value] : body.items()) {
    if (name != "drain") {
      const std::vector<std::string_view> known = {"drain"};
      return call.reply(error_response(400, unknown_name("field", name.substr(0, 64), known)));
    }
    if (!value.is_boolean()) {
      return call.reply(error_response(400, "'drain' is neither true nor false"));
    }
    drain = value.get<bool>();
  }
  HttpResponse response;
  response.body = "{\"done\":true}\n";
  call.reply(std::move(response));
  parts_.shut_down(drain);
}

}  // namespace muster
