#include "daemon/outside/process_loader.h"

#include <fmt/format.h>

#include "policy/failure.h"

namespace muster {
namespace {

// What all copies of one policy share.
struct Introduction {
  std::string kind;
  Choice choice;
  const Symbols* symbols = nullptr;
  std::string text;  // what it declared, as it said it
  Declared declared;
};

class ProcessRespondent final : public Respondent {
 public:
  ProcessRespondent(std::shared_ptr<PolicyHost> host, std::shared_ptr<const Introduction> made,
                    std::uint64_t number)
      : host_(std::move(host)), made_(std::move(made)), number_(number), epoch_(host_->epoch()) {}
  ~ProcessRespondent() override {
    if (epoch_ == host_->epoch()) host_->drop(number_);
  }
  ProcessRespondent(const ProcessRespondent&) = delete;
  ProcessRespondent& operator=(const ProcessRespondent&) = delete;

  void record_in(std::shared_ptr<AnswerLog> answers, std::size_t policy) {
    answers_ = std::move(answers);
    policy_ = policy;
  }

  const Declared& declared() const override { return made_->declared; }
  const std::string& name() const override { return made_->choice.name; }

  void ask(const PolicyQuestion& question, PolicyAnswer& answer) override {
    const Status given = try_ask(question, answer);
    if (answers_ && answers_->on_answer) {
      answers_->on_answer(policy_, given ? &answer : nullptr);
    }
    if (!given) fail(question.now, given.error().message);
    if (!trouble_.empty()) host_->say(fmt::format("{} answers again", called()));
    trouble_.clear();
  }

  [[noreturn]] void bad(Seconds now, const std::string& what) override { fail(now, what); }

  // Without memory of the past where it cannot be copied.
  std::unique_ptr<Respondent> copy() const override {
    std::uint64_t number = 0;
    if (usable()) {
      if (const auto copied = host_->copy(number_)) number = *copied;
    }
    auto copy = std::make_unique<ProcessRespondent>(host_, made_, number);
    if (number == 0) copy->epoch_ = 0;
    return copy;
  }

 private:
  std::string called() const {
    return fmt::format("{} policy '{}'", made_->kind, made_->choice.name);
  }
  bool usable() const { return host_->ready() && epoch_ == host_->epoch() && !pending_; }

  // A new process begins with a new policy, which is made while the cluster goes on without it.
  Status return_to_life() {
    host_->ready();
    if (pending_ && epoch_ != host_->epoch()) pending_ = false;
    if (host_->process() > 0 && !pending_) {
      number_ = host_->begin_make(made_->kind, made_->choice);
      epoch_ = host_->epoch();
      pending_ = true;
    }
    if (!host_->ready()) return Error{"its process is being started"};
    pending_ = false;
    const Result<std::string> declared = host_->made(number_);
    if (declared && *declared == made_->text) return Done{};
    epoch_ = 0;
    if (!declared) return declared.error();
    return Error{"it declares other things than when it was loaded: reload, to use it as it is"};
  }

  Status try_ask(const PolicyQuestion& question, PolicyAnswer& answer) {
    if (!usable()) {
      if (Status alive = return_to_life(); !alive) return alive;
    }
    const Result<Message> said = host_->ask(number_, question, *made_->symbols);
    if (!said) {
      static_cast<void>(return_to_life());  // it is started again now, if it may be
      return said.error();
    }
    if (said->kind == 'E') return Error{said->payload};
    return read_answer(*said, made_->declared.form, answer);
  }

  // Told once, and again when it is something else.
  [[noreturn]] void fail(Seconds now, const std::string& what) {
    if (trouble_ != what) host_->say(fmt::format("{}: {}; going on without it", called(), what));
    trouble_ = what;
    throw PolicyFailure(fmt::format("{} at {} s: {}", called(), now, what));
  }

  std::shared_ptr<PolicyHost> host_;
  std::shared_ptr<const Introduction> made_;
  std::uint64_t number_;
  std::uint64_t epoch_;   // of the process that has it
  bool pending_ = false;  // it is being made
  std::string trouble_;
  std::shared_ptr<AnswerLog> answers_;
  std::size_t policy_ = 0;
};

std::string file_of(const std::string& name) { return name.substr(0, name.find(".py:") + 3); }

}  // namespace

std::shared_ptr<PolicyHost> PolicyHosts::of(const std::string& file) {
  std::error_code ignored;
  const auto changed = std::filesystem::last_write_time(file, ignored);
  Known& known = known_[file];
  std::shared_ptr<PolicyHost> host = known.host.lock();
  if (!host || known.changed != changed) host = std::make_shared<PolicyHost>(settings_, file);
  known = {changed, host};
  return host;
}

bool ProcessLoader::knows(std::string_view kind, std::string_view name) const {
  return names_python(name) && (kind == "admission" || kind == "scheduling" || kind == "placement");
}

Result<Outside> ProcessLoader::respondent(const char* kind, const Choice& choice,
                                          const Symbols* symbols) const {
  const auto wrong = [&](const std::string& what) {
    return Error{fmt::format("{} policy '{}': {}", kind, choice.name, what)};
  };
  const std::shared_ptr<PolicyHost> host = hosts_->of(file_of(choice.name));
  const HostSettings& settings = host->settings();
  // One that is there and not ready has died: it is not waited for again.
  if (host->epoch() == 0) {
    if (Status there = host->wait(settings.start_limit); !there)
      return wrong(there.error().message);
  } else if (!host->ready()) {
    return wrong("its process is being started again");
  }
  const std::uint64_t number = host->begin_make(kind, choice);
  if (Status there = host->wait(settings.start_limit); !there) return wrong(there.error().message);
  auto declared = host->made(number);
  if (!declared) return wrong(declared.error().message);
  auto made = std::make_shared<Introduction>(Introduction{kind, choice, symbols, *declared, {}});
  auto read = read_declaration(*declared);
  if (!read) return wrong(read.error().message);
  made->declared = std::move(*read);
  auto respondent = std::make_unique<ProcessRespondent>(host, std::move(made), number);
  if (symbols != nullptr && answers_) {
    respondent->record_in(answers_, answers_->policies.size());
    answers_->policies.push_back({kind, choice.name, std::move(*declared)});
  }
  return Outside(std::move(respondent));
}

Result<std::unique_ptr<AdmissionPolicy>> ProcessLoader::admission(const Choice& choice,
                                                                  const Symbols* symbols) const {
  auto made = respondent("admission", choice, symbols);
  if (!made) return made.error();
  return make_outside_admission(std::move(*made), OnFailure::kFallBack);
}

Result<std::unique_ptr<SchedulingPolicy>> ProcessLoader::scheduling(const Choice& choice,
                                                                    const Symbols* symbols) const {
  auto made = respondent("scheduling", choice, symbols);
  if (!made) return made.error();
  return make_outside_scheduling(std::move(*made), OnFailure::kFallBack);
}

Result<std::unique_ptr<PlacementPolicy>> ProcessLoader::placement(const Choice& choice,
                                                                  const Symbols* symbols) const {
  auto made = respondent("placement", choice, symbols);
  if (!made) return made.error();
  return make_outside_placement(std::move(*made), OnFailure::kFallBack);
}

}  // namespace muster
