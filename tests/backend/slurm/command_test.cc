// The runner of Slurm's programs: with programs that hang, fail, flood and answer garbage.
#include "backend/slurm/command.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/slurm/slurm_commands.h"
#include "support/hostile_names.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(SlurmCommand, GivesBackWhatWasSaidAndHow) {
  const auto output = run_command({"sh", "-c", "cat; echo oops >&2; exit 3"}, {}, "in\nput");
  ASSERT_TRUE(output);
  EXPECT_EQ(output->status, 3);
  EXPECT_EQ(output->out, "in\nput");
  EXPECT_EQ(output->err, "oops\n");
  EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"})->status, 137);
  const auto failed = output_of({"sh", "-c", "echo 'not\ta  chance' >&2; exit 1"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "sh ended with status 1: not a  chance");
  EXPECT_FALSE(run_command({"/no/such/program"}));
}

TEST(SlurmCommand, PassesHostileWordsAsTheyAre) {
  for (const std::string& name : hostile_names(std::string_view("\0", 1))) {
    EXPECT_EQ(output_of({"printf", "%s", name}).value(), name);
  }
}

TEST(SlurmCommand, TakesAndGivesMuch) {
  const std::string text(3 << 20, 'x');
  EXPECT_EQ(output_of({"cat"}, {}, text).value(), text);
}

TEST(SlurmCommand, EndsWhatHangsOrFloods) {
  CommandLimits limits;
  limits.seconds = 0.2;
  const double took = seconds_of([&] {
    const auto hung = run_command({"sleep", "1000"}, limits);
    ASSERT_FALSE(hung);
    EXPECT_THAT(hung.error().message, HasSubstr("did not answer within 0.2 s"));
    // One that has closed its output and goes on is no better.
    EXPECT_FALSE(run_command({"sh", "-c", "exec >&- 2>&-; exec sleep 1000"}, limits));
  });
  EXPECT_LT(took, 5);
  limits.seconds = 10;
  limits.bytes = 1 << 20;
  const auto flood = run_command({"yes"}, limits);
  ASSERT_FALSE(flood);
  EXPECT_THAT(flood.error().message, HasSubstr("said more than 1048576 bytes"));
}

TEST(SlurmCommand, DoesNotWaitForWhatTheProgramLeavesBehind) {
  const double took = seconds_of([] {
    const auto output = run_command({"sh", "-c", "echo here; sleep 5 & exit 0"});
    ASSERT_TRUE(output);
    EXPECT_EQ(output->out, "here\n");
  });
  EXPECT_LT(took, 4);
}

TEST(SlurmCommand, KeepsHabitsOfOthersOut) {
  setenv("SQUEUE_FORMAT", "%i", 1);
  setenv("SLURM_CONF", "/here", 1);
  setenv("SLURM_JOB_ID", "7", 1);
  const std::vector<std::string> variables = command_environment();
  unsetenv("SQUEUE_FORMAT");
  unsetenv("SLURM_CONF");
  unsetenv("SLURM_JOB_ID");
  const auto has = [&](const char* text) {
    return std::find(variables.begin(), variables.end(), text) != variables.end();
  };
  EXPECT_TRUE(has("SLURM_CONF=/here"));
  EXPECT_TRUE(has("LC_ALL=C"));
  EXPECT_FALSE(has("SQUEUE_FORMAT=%i"));
  EXPECT_FALSE(has("SLURM_JOB_ID=7"));
}

// Programs of Slurm's names, made for the moment, before all others in PATH.
class PretendedSlurm : public ::testing::Test {
 protected:
  PretendedSlurm() : path_(std::getenv("PATH")) {
    setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
    program("scontrol", R"sh(
if [ "$1" = --version ]; then echo slurm-wlm 99.1; exit 0; fi
if [ $# -gt 0 ]; then exit 1; fi
while read -r line; do
  # Long lines are broken as by readline.
  echo "scontrol: $(echo "$line" | sed 's/^\(.\{70\}\)\(.\)/\1\2\r\2/')"
  case "$line" in
    muster-said-*) echo "invalid keyword: $line" ;;
    "release 13") echo "Invalid job id specified for job 13"; echo "slurm_suspend error" ;;
    "release 14") exit 1 ;;
    "release 15") sleep 1000 ;;
    *) echo "$line" >> "$(dirname "$0")/said" ;;
  esac
done)sh");
    program("squeue", "echo '{\"jobs\": []}'");
    program("sinfo", "echo '{\"nodes\": []}'");
  }
  ~PretendedSlurm() override { setenv("PATH", path_.c_str(), 1); }

  void program(const char* name, const std::string& text) {
    const std::filesystem::path file = folder_.path() / name;
    std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  std::unique_ptr<SlurmCommands> open() {
    CommandLimits limits;
    limits.seconds = 2;
    auto opened = SlurmCommands::open(limits, notes_);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  std::string why_not() {
    CommandLimits limits;
    limits.seconds = 0.5;
    const auto opened = SlurmCommands::open(limits, notes_);
    return opened ? "" : opened.error().message;
  }
  std::string said() {
    std::ifstream file(folder_.path() / "said");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_;
  TemporaryFolder folder_;
  std::vector<std::string> notes_;
};

TEST_F(PretendedSlurm, IsOpenedOnceItAnswers) {
  EXPECT_TRUE(open());
  EXPECT_THAT(notes_, ::testing::Contains("this is slurm-wlm 99.1"));
}

TEST_F(PretendedSlurm, WhatItCannotDoIsNamed) {
  program("squeue", "echo 'squeue: unrecognized option --json' >&2; exit 1");
  EXPECT_THAT(why_not(), HasSubstr("no list of jobs: squeue ended with status 1: squeue: unrec"));
  program("squeue", "echo garbage");
  EXPECT_THAT(why_not(), HasSubstr("is not JSON (8 bytes); is this a release from 21.08 on"));
  program("squeue", "echo '{\"errors\": [{\"error\": \"no contact\"}], \"jobs\": []}'");
  EXPECT_THAT(why_not(), HasSubstr("no contact"));
  program("sinfo", "exec sleep 1000");
  EXPECT_THAT(why_not(), HasSubstr("no list of nodes: sinfo did not answer within 0.5 s"));
  program("scontrol", "exit 1");
  EXPECT_THAT(why_not(), HasSubstr("install slurm-client"));
}

TEST_F(PretendedSlurm, OneScontrolIsToldEverything) {
  const auto slurm = open();
  SlurmPlacement placement;
  placement.nodes = {"n1", "n2"};
  placement.per_node = "gres:gpu:4";
  placement.mark = "muster/a/-/1/1/0/8";
  placement.tasks = 8;
  placement.cpus_per_node = 4;
  placement.requeued = true;
  ASSERT_TRUE(slurm->place(7, placement));
  ASSERT_TRUE(slurm->release(7));
  EXPECT_EQ(said(),
            "update JobId=7 ReqNodeList=n1,n2 NumNodes=2-2 Comment=muster/a/-/1/1/0/8 "
            "TresPerNode=gres:gpu:4 TresPerJob= NumTasks=8 MinCPUsNode=4 "
            "NumCPUs=8 StartTime=now\nrelease 7\n");
  const Status unknown = slurm->release(13);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("Invalid job id specified for job 13"));
  EXPECT_TRUE(slurm->release(8)) << "it goes on after a complaint";
}

TEST_F(PretendedSlurm, AnScontrolThatDiesOrHangsIsStartedAgain) {
  const auto slurm = open();
  EXPECT_FALSE(slurm->release(14));
  EXPECT_TRUE(slurm->release(1));
  EXPECT_FALSE(slurm->release(15));
  EXPECT_TRUE(slurm->release(2));
  EXPECT_EQ(said(), "release 1\nrelease 2\n");
}

TEST_F(PretendedSlurm, NoWordBecomesACommand) {
  for (const std::string word : {"a b", "a\nshutdown", "a;b", "!!", "", "'a'", "a\"b"}) {
    EXPECT_FALSE(ScontrolLine::plain(word)) << word;
  }
  ScontrolLine line(2);
  EXPECT_FALSE(line.tell({"release", "1\nshutdown"}));
  EXPECT_EQ(said(), "");
}

TEST_F(PretendedSlurm, AnswersOfSbatchAreNumbers) {
  const auto slurm = open();
  program("sbatch", "cat > \"$(dirname \"$0\")/script\"; echo '41;lab'");
  SlurmSubmission submission;
  submission.script = "#!/bin/sh\ntrue\n";
  EXPECT_EQ(slurm->submit({submission})[0].value(), 41U);
  std::ifstream script(folder_.path() / "script");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(script), {}), submission.script);
  program("sbatch", "cat > /dev/null; echo 'Submitted batch job 7'");
  EXPECT_THAT(slurm->submit({submission})[0].error().message, HasSubstr("instead of a number"));
}

TEST_F(PretendedSlurm, SeveralAreSubmittedAtATime) {
  const auto slurm = open();
  // Each waits until another one is there, so one after the other they would never end.
  program("sbatch",
          "cd \"$(dirname \"$0\")\" && read -r number && touch \"here.$number\"\n"
          "while [ $(ls here.* | wc -l) -lt 2 ]; do sleep 0.01; done; echo \"$number\"");
  std::vector<SlurmSubmission> submissions(9);
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    submissions[i].script = fmt::format("{}\n", 100 + i);
  }
  const auto numbers = slurm->submit(submissions);
  ASSERT_EQ(numbers.size(), 9U);
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i].value(), 100 + i);
}

}  // namespace
}  // namespace muster
