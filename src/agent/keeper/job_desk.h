// The keeper's side of the job protocol (docs/job-protocol.md): leases, the agreement of all ranks
// on the last step, progress and metrics. Pure: lines of text come in, lines of text and news go
// out; sockets and time are the keeper's.
//
// The agreement: every rank is asked where it is. A rank that has completed c steps answers c and
// promises not to go beyond step c + 1 until it receives the last step. The last step is the
// greatest answer plus one, so no rank has passed it, and every rank can reach it. Answers come
// from a thread of the client, not from the training loop: a rank that waits for others inside a
// collective operation answers all the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

struct DeskSettings {
  std::uint32_t job = 0;
  std::uint32_t launch = 0;
  std::string token;
  bool whole = true;  // all ranks of the launch are on this node: it decides the last step itself
};

class JobDesk {
 public:
  using Client = int;

  explicit JobDesk(DeskSettings settings) : settings_(std::move(settings)) {}

  // A line of a client, without its end. False: the connection is to be closed, after the replies.
  bool heard(Client client, std::string_view line, double now);
  void closed(Client client);

  // The job is to save its work and leave. Without effect the second time.
  void ask_to_leave();
  // The last step that all nodes agreed on, where others have ranks, too.
  void agree(std::int64_t last);
  // GPUs are ours until then; infinite: until told otherwise.
  void lease(double until, double now);

  // Whether any rank speaks the protocol, and has not said goodbye.
  bool someone_listens() const;
  bool left() const { return left_; }
  bool done() const { return done_; }
  std::int64_t step() const { return step_; }
  std::int64_t saved_step() const { return saved_; }

  // Lines for clients, and lines for the scheduler, since the last call.
  std::vector<std::pair<Client, std::string>> take_replies() { return std::exchange(replies_, {}); }
  std::vector<std::string> take_news() { return std::exchange(news_, {}); }

 private:
  struct Rank {
    int number = -1;
    std::optional<std::int64_t> at;  // its answer to `where`
    bool gone = false;               // said that it has left or is done
  };

  bool greet(Client client, const std::vector<std::string_view>& words, double now);
  bool told(Rank& rank, const std::vector<std::string_view>& words);
  bool metric(const std::vector<std::string_view>& words);
  void count_answers();
  void tell_lease(Client client, double now);

  DeskSettings settings_;
  std::map<Client, Rank> ranks_;
  std::vector<std::pair<Client, std::string>> replies_;
  std::vector<std::string> news_;
  bool leaving_ = false;
  bool reported_ = false;  // the node's answer is with the others
  std::optional<std::int64_t> last_;
  double lease_until_ = 0;  // 0: there is none
  bool left_ = false;
  bool done_ = false;
  std::int64_t step_ = -1;
  std::int64_t saved_ = -1;
};

}  // namespace muster
