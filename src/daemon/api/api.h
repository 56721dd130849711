// The API: one table of routes, each with its method, its path, the role that may call it and a
// sentence. Reads are answered from the board; submissions go to the intake; a change of a job or a
// node is a request to the engine's thread, answered once it is committed.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "agent/gpus/gpus.h"
#include "daemon/api/access.h"
#include "daemon/api/tokens.h"
#include "daemon/clock.h"
#include "daemon/http/http.h"
#include "daemon/intake.h"
#include "daemon/questions.h"
#include "daemon/rate_limit.h"

namespace muster {

class Core;

// A change that the engine's thread carries out, and the function to call when it is durable.
struct ChangeRequest {
  std::function<Status(Core&)> work;
  std::function<void(const Status&)> told;
};

struct ApiParts {
  Board& board;
  Intake& intake;
  const LiveClock& clock;
  Access access;
  Tokens& tokens;
  RateLimit& rate;
  std::filesystem::path runs;   // folders of launches
  std::filesystem::path ended;  // and of those whose end is committed
  std::function<void(ChangeRequest)> ask;
  // For the engine's thread: what was decided about a job.
  std::function<Result<std::vector<StoredDecision>>(JobId)> decisions;
  // For what takes long; false: too much of that waits already.
  std::function<bool(Questions::Work)> think;
  std::function<std::string()> status;        // of the daemon, as JSON
  std::function<std::string()> frozen;        // why nothing is decided any more; empty: all is well
  std::function<std::vector<GpuUse>()> gpus;  // what those of this machine are doing; or none
  std::function<void(bool drain)> shut_down;
  std::function<void(std::function<void(const Status&)> told)> reload;
};

class Api;
struct ApiCall {
  const HttpRequest& request;
  Caller caller;
  std::string name;  // what stands for {id} or {node}
  HttpReply reply;
};

// A parameter of a query.
struct ApiParameter {
  std::string_view name;
  std::string_view type;
  std::string_view sentence;
};

struct ApiRoute {
  std::string_view method;
  std::string_view path;  // "/v1/jobs/{id}/cancel"
  std::string_view sentence;
  bool operators_only;
  void (Api::*handle)(const ApiCall&);
  std::string_view answer;     // the name of its schema in openapi.cc; empty: plain text
  std::string_view body = {};  // of what it takes; empty: nothing
  std::span<const ApiParameter> query = {};
};

class Api {
 public:
  explicit Api(ApiParts parts) : parts_(std::move(parts)) {}
  void handle(const HttpRequest& request, HttpReply reply);
  static std::span<const ApiRoute> routes();

  // The handlers: api_jobs.cc what reads and submits, api_logs.cc output, api_changes.cc what
  // changes things, api_questions.cc what looks ahead.
  void get_status(const ApiCall& call);
  void list_jobs(const ApiCall& call);
  void submit(const ApiCall& call);
  void show_job(const ApiCall& call);
  void show_log(const ApiCall& call);
  void explain(const ApiCall& call);
  void what_if(const ApiCall& call);
  void cancel(const ApiCall& call);
  void hold(const ApiCall& call);
  void release(const ApiCall& call);
  void revise(const ApiCall& call);
  void list_nodes(const ApiCall& call);
  void drain(const ApiCall& call);
  void undrain(const ApiCall& call);
  void shut_down(const ApiCall& call);
  void reload(const ApiCall& call);
  void metrics(const ApiCall& call);
  void openapi(const ApiCall& call);
  // api_tokens.cc
  void list_tokens(const ApiCall& call);
  void create_token(const ApiCall& call);
  void revoke_token(const ApiCall& call);

 private:
  // Who calls; nothing, and an answer, for a caller on the network without a valid token.
  std::optional<Caller> caller_of(const HttpRequest& request, const HttpReply& reply) const;
  // The job that the call names, if there is one that the caller may see; else it is answered.
  std::optional<BoardJob> job_of(const ApiCall& call) const;
  // What is wrong with the name of a user; empty: nothing.
  std::string check_owner(const std::string& name, const Caller& caller) const;
  void change_job(const ApiCall& call, std::function<Status(Core&, JobId)> work);
  // Answers that a change is done, or why not; `refused` is the HTTP status if the present state
  // forbids it.
  std::function<void(const Status&)> answer_to_change(const ApiCall& call, int refused) const;
  void set_drained(const ApiCall& call, bool drained);

  ApiParts parts_;
};

// api_json.cc
std::string job_json(const BoardJob& job, const std::vector<StoredNode>& nodes,
                     const LiveClock& clock, bool detailed);
std::string jobs_json(const std::vector<BoardJob>& jobs, const std::vector<StoredNode>& nodes,
                      const LiveClock& clock);
// Jobs that the caller may not see are there without their numbers. `uses`: of the GPUs of the
// first node, which is this machine; empty if they are not measured.
std::string nodes_json(const std::vector<StoredNode>& nodes, const std::vector<BoardJob>& jobs,
                       const Caller& caller, const std::vector<GpuUse>& uses);
std::string story_json(const BoardJob& job, const struct JobStory& story,
                       const std::vector<JobId>& first_before,
                       const std::vector<StoredDecision>& decisions);
// A whole number of the query from 0 to `most`; `usual` where it is not given.
Result<std::int64_t> number_in(const HttpRequest& request, const char* name, std::int64_t usual,
                               std::int64_t most);
std::string error_json(std::string_view message);
HttpResponse error_response(int status, std::string_view message);

// openapi.cc, with what is answered in openapi_answers.cc.
std::string openapi_document(std::span<const ApiRoute> routes);
// metrics_text.cc: in the text format of Prometheus.
std::string metrics_text(const Board& board, const Caller& caller, const std::vector<GpuUse>& uses);

}  // namespace muster
