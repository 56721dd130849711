#include "daemon/job_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/api/api.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

std::string refused_request(const std::string& json) {
  const auto request = parse_job_request(json);
  return request ? "" : request.error().message;
}

TEST(JobRequest, ReadsBackWhatItWrites) {
  JobRequest request;
  request.command = {"python", "train.py", "\xff\n\"quoted\""};
  request.command[2] = "a \"quoted\"\nline";
  request.name = "bert";
  request.gpus = 4;
  request.min_gpus = 2;
  request.max_gpus = 8;
  request.deadline = 3600;
  request.retries = 2;
  request.hold = true;
  request.working_directory = "/tmp";
  request.environment = {{"A", "1"}, {"B", ""}};
  request.step_ms = 120;
  request.stage_ms = {20, 0, 90.5, 30};
  const auto again = parse_job_request(job_request_text(request));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, request);
}

TEST(JobRequest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(refused_request("nonsense"), HasSubstr("not JSON"));
  EXPECT_THAT(refused_request("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refused_request("{}"), HasSubstr("'command'"));
  EXPECT_THAT(refused_request(R"({"command":[]})"), HasSubstr("'command'"));
  EXPECT_THAT(refused_request(R"({"command":[""]})"), HasSubstr("empty name"));
  EXPECT_THAT(refused_request(R"({"command":["a\u0000b"]})"), HasSubstr("zero byte"));
  EXPECT_THAT(refused_request(R"({"command":["a"],"gpus":0})"), HasSubstr("'gpus'"));
  EXPECT_THAT(refused_request(R"({"command":["a"],"gpus":1.5})"), HasSubstr("whole"));
  EXPECT_THAT(refused_request(R"({"command":["a"],"gpus":1e99})"), HasSubstr("'gpus'"));
  EXPECT_THAT(refused_request(R"({"command":["a"],"min_gpus":3,"gpus":2,"max_gpus":4})"),
              HasSubstr("range"));
  EXPECT_THAT(refused_request(R"({"command":["a"],"gpuz":1})"), HasSubstr("did you mean 'gpus'"));
  EXPECT_THAT(refused_request(R"({"command":["a"],"name":"a\nb"})"), HasSubstr("control"));
  EXPECT_THAT(refused_request(R"({"command":["a"],"working_directory":"../x"})"),
              HasSubstr("absolute"));
  EXPECT_THAT(refused_request(R"({"command":["a"],"environment":{"A=B":"1"}})"), HasSubstr("name"));
  EXPECT_THAT(refused_request(R"({"command":["a"],"environment":{"A":1}})"), HasSubstr("not text"));
  EXPECT_THAT(refused_request(R"({"command":["a"],"time_limit":-1})"), HasSubstr("'time_limit'"));
}

TEST(JobRequest, KnowsTheStagesOfAStep) {
  const auto request = parse_job_request(R"({"command":["a"],"stage_ms":{"cpu":20,"gpu":80}})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->stage_ms, (StageTimes{0, 20, 80, 0}));
  EXPECT_EQ(request->step_ms, 100);  // nobody said that they overlap
  const std::string with = R"({"command":["a"],"stage_ms":)";
  EXPECT_THAT(refused_request(with + "[1,2]}"), HasSubstr("storage, cpu, gpu and network"));
  EXPECT_THAT(refused_request(with + R"({"gpus":1}})"), HasSubstr("did you mean 'gpu'"));
  EXPECT_THAT(refused_request(with + R"({"gpu":-1}})"), HasSubstr("'stage_ms': 'gpu' is -1"));
  EXPECT_THAT(refused_request(with + R"({"gpu":0}})"), HasSubstr("above 0"));
}

// The description of the API names exactly the fields that are read.
TEST(OpenApi, NamesEveryFieldOfASubmission) {
  const auto document = nlohmann::json::parse(openapi_document(Api::routes()));
  const auto& fields = document["components"]["schemas"]["Submission"]["properties"];
  nlohmann::json all = {{"command", {"a"}}};
  for (const auto& [name, field] : fields.items()) {
    const std::string type = field["type"];
    if (name == "command") continue;
    all[name] = type == "string"    ? nlohmann::json(name.ends_with("directory") ? "/x" : "x")
                : type == "boolean" ? nlohmann::json(true)
                : type == "object"  ? nlohmann::json::object()
                                    : nlohmann::json(2);
  }
  EXPECT_EQ(refused_request(all.dump()), "");
  const std::string unknown = refused_request(R"({"command":["a"],"?":1})");
  for (const auto& [name, field] : fields.items()) EXPECT_THAT(unknown, HasSubstr(name));
  // As many as the parser lists, except for the two that executors alone may say: none is missing.
  const std::string list = unknown.substr(unknown.find("known: "));
  EXPECT_THAT(list, testing::AllOf(HasSubstr("origin"), HasSubstr("unfit")));
  const auto listed = static_cast<std::size_t>(std::count(list.begin(), list.end(), ',')) + 1;
  EXPECT_EQ(listed, fields.size() + 2);
}

TEST(OpenApi, NamesEveryRoute) {
  const auto document = nlohmann::json::parse(openapi_document(Api::routes()));
  std::size_t operations = 0;
  for (const auto& [path, methods] : document["paths"].items()) operations += methods.size();
  EXPECT_EQ(operations, Api::routes().size());
}

}  // namespace
}  // namespace muster
