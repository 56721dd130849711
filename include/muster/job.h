// The job's side of Muster for programs in C++: leave after a step that all ranks agreed on, tell
// progress and metrics, know how long the GPUs are certain. One header, POSIX and the standard
// library; link with -pthread. The protocol is described in docs/job-protocol.md.
//
//   muster_job::Job job;
//   std::int64_t completed = load_checkpoint();
//   while (job.next(completed, total)) {
//     job.report("loss", train(completed));
//     ++completed;
//   }
//   if (job.leaving()) {
//     save_checkpoint(completed);
//     job.left(completed);
//   }
//
// Where no scheduler is around next() counts to `total` and all else does nothing.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <map>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace muster_job {

class Job {
 public:
  // Joins the launch that the environment names.
  Job() {
    const char* path = std::getenv("MUSTER_JOB_SOCKET");
    const char* token = std::getenv("MUSTER_JOB_TOKEN");
    if (path == nullptr || token == nullptr || *path == '\0') {
      // Under Slurm there is no keeper: words are passed in files of the launch's folder.
      path = std::getenv("MUSTER_LAUNCH_FOLDER");
      token = "-";
      if (path == nullptr || access((std::string(path) + "/words").c_str(), R_OK) != 0) return;
      folder_ = path;
    } else {
      socket_ = connect_to(path);
    }
    if ((folder_.empty() && socket_ < 0) || pipe2(wake_, O_CLOEXEC) != 0) {
      std::fprintf(stderr, "muster_job: cannot reach %s; going on without a scheduler\n", path);
      close_all();
      return;
    }
    scheduled_ = true;
    say("hello " + std::string(token) + " " + std::to_string(rank()));
    thread_ = std::thread([this] { listen(); });
  }
  ~Job() {
    if (thread_.joinable()) {
      close(wake_[1]);
      wake_[1] = -1;
      thread_.join();
    }
    close_all();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool scheduled() const { return scheduled_; }
  static int rank() { return number("RANK", 0); }
  static int local_rank() { return number("LOCAL_RANK", 0); }
  static int world_size() { return number("WORLD_SIZE", 1); }
  static int launch() { return number("MUSTER_LAUNCH", 1); }

  // So many steps are completed: whether there is another one to do. False when `total` is reached,
  // which is told to the scheduler, and when the job leaves. Waits where the other ranks have not
  // agreed on the last step yet. A total of 0 means that nobody knows.
  bool next(std::int64_t completed, std::int64_t total = 0) {
    std::unique_lock lock(mutex_);
    completed_ = completed;
    total_ = total;
    if (sent_step_ < 0) {  // where it begins
      lock.unlock();
      flush();
      lock.lock();
    }
    if (total > 0 && completed >= total) {
      lock.unlock();
      goodbye("done", completed);
      return false;
    }
    agreed_.wait(lock, [&] { return !open_ || last_ >= 0 || completed_ < limit_; });
    leaving_ = last_ >= 0 && completed >= last_;
    return !leaving_;
  }
  bool leaving() const { return leaving_; }

  // A checkpoint with so many completed steps is on the disk.
  void saved(std::int64_t completed) { say("saved " + std::to_string(completed)); }
  // The work is saved and this rank goes: the job is to be started again later.
  void left(std::int64_t completed) {
    saved(completed);
    goodbye("left", completed);
  }

  // A number for people and policies; the latest of each name is sent about once a second. Names
  // are letters, digits and _./- only.
  void report(const std::string& name, double value) {
    const std::lock_guard lock(mutex_);
    metrics_[name] = value;
  }

  // Seconds for which the GPUs are certain; infinite: until told otherwise.
  double lease_left() const {
    const std::lock_guard lock(mutex_);
    return std::max(0.0, lease_end_ - now());
  }

 private:
  static int number(const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr || *text == '\0' ? otherwise : std::atoi(text);
  }
  static double now() {
    using std::chrono::duration;
    return duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  // A path that is too long for a socket is reached through its folder.
  static int connect_to(const std::string& path) {
    std::string name = path;
    int folder = -1;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name.size() >= sizeof address.sun_path) {
      const std::size_t slash = path.rfind('/');
      folder = open(path.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      name = "/proc/self/fd/" + std::to_string(folder) + path.substr(slash);
    }
    int made = -1;
    if (name.size() < sizeof address.sun_path) {
      std::memcpy(address.sun_path, name.data(), name.size());
      made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        close(made);
        made = -1;
      }
    }
    if (folder >= 0) close(folder);
    return made;
  }

  void close_all() {
    for (int* descriptor : {&socket_, &wake_[0], &wake_[1]}) {
      if (*descriptor >= 0) close(*descriptor);
      *descriptor = -1;
    }
  }

  void say(const std::string& line) {
    if (!scheduled_) return;
    const std::lock_guard lock(sending_);
    const std::string whole = line + "\n";
    if (!folder_.empty()) {
      const std::string name = folder_ + "/rank-" + std::to_string(rank()) + ".words";
      const int file = open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
      const bool written = file >= 0 && write(file, whole.data(), whole.size()) >= 0;
      if (!written) std::fprintf(stderr, "muster_job: cannot write %s\n", name.c_str());
      if (file >= 0) close(file);
      return;
    }
    for (std::size_t sent = 0; sent < whole.size();) {
      const ssize_t count = send(socket_, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;  // the listening thread sees it, too
      sent += static_cast<std::size_t>(count);
    }
  }

  // What is new of what the ranks are told. Opened anew each time: that is when a network file
  // system looks whether others have changed it.
  ssize_t read_words(char* bytes, std::size_t size) {
    const int file = open((folder_ + "/words").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t count = pread(file, bytes, size, words_read_);
    close(file);
    if (count > 0) words_read_ += count;
    return count;
  }

  void goodbye(const char* word, std::int64_t completed) {
    flush();
    say(std::string(word) + " " + std::to_string(completed));
  }

  // The thread answers for the training loop, so that a rank that waits for the others inside a
  // collective operation answers, too.
  void listen() {
    std::string buffer;
    double next_report = now() + 1;
    while (true) {
      pollfd polls[] = {{socket_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
      double wait = std::min(next_report, renew_at_) - now();
      if (!folder_.empty()) wait = std::min(wait, kLookSeconds);
      poll(polls, 2, static_cast<int>(std::ceil(std::max(0.0, wait) * 1e3)));
      if (polls[1].revents != 0) break;  // the other end is closed: the program ends
      if (polls[0].revents != 0 || !folder_.empty()) {
        char bytes[4096];
        const ssize_t count =
            folder_.empty() ? read(socket_, bytes, sizeof bytes) : read_words(bytes, sizeof bytes);
        if (count <= 0 && folder_.empty()) break;
        buffer.append(bytes, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        for (std::size_t end = 0; (end = buffer.find('\n')) != std::string::npos;) {
          hear(buffer.substr(0, end));
          buffer.erase(0, end + 1);
        }
      }
      if (now() >= next_report) {
        next_report = now() + 1;
        flush();
      }
      if (now() >= renew_at_) {
        renew_at_ = kNever;
        if (rank() == 0) say("renew");  // one question per launch is enough
      }
    }
    const std::lock_guard lock(mutex_);
    open_ = false;
    agreed_.notify_all();
  }

  void hear(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string verb = line.substr(0, space);
    const std::string word = space == std::string::npos ? "" : line.substr(space + 1);
    if (verb == "where") {
      std::int64_t completed = 0;
      {
        const std::lock_guard lock(mutex_);
        completed = completed_;
        limit_ = completed + 1;
      }
      say("at " + std::to_string(completed));
    } else if (verb == "last") {
      const std::lock_guard lock(mutex_);
      last_ = std::atoll(word.c_str());
      agreed_.notify_all();
    } else if (verb == "lease") {
      lease(word);
    } else if (verb == "refused") {
      std::fprintf(stderr, "muster_job: the keeper refused: %s\n", word.c_str());
    }
    // Words of later versions mean nothing to this one.
  }

  void lease(const std::string& word) {
    const std::lock_guard lock(mutex_);
    if (word == "none") {
      lease_end_ = renew_at_ = kNever;
      return;
    }
    const double seconds = std::atof(word.c_str());
    // The answer to our own question may be the same lease again: ask once per lease.
    const bool asked = renew_at_ == kNever && lease_end_ != kNever;
    if (asked && now() + seconds <= lease_end_ + 0.5) return;
    lease_end_ = now() + seconds;
    renew_at_ = now() + 0.75 * seconds;
  }

  void flush() {
    std::string lines;
    {
      const std::lock_guard lock(mutex_);
      if (completed_ != sent_step_) {
        lines += "step " + std::to_string(completed_) + " " + std::to_string(total_) + "\n";
      }
      sent_step_ = completed_;
      for (const auto& [name, value] : metrics_) {
        if (!std::isfinite(value)) continue;
        char text[40];
        std::snprintf(text, sizeof text, "%.17g", value);
        lines += "metric " + name + " " + text + "\n";
      }
      metrics_.clear();
    }
    if (lines.empty()) return;
    lines.pop_back();  // say() ends the last one
    say(lines);
  }

  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kLookSeconds = 0.5;

  int socket_ = -1;
  std::string folder_;  // instead of the socket
  off_t words_read_ = 0;
  int wake_[2] = {-1, -1};
  bool scheduled_ = false;
  std::thread thread_;
  std::mutex sending_;
  mutable std::mutex mutex_;
  std::condition_variable agreed_;
  std::map<std::string, double> metrics_;
  std::int64_t completed_ = 0;
  std::int64_t total_ = 0;
  std::int64_t sent_step_ = -1;
  // Do not begin a step beyond this one until the last is known.
  std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ = -1;  // leave after this one; -1: not known
  double lease_end_ = kNever;
  double renew_at_ = kNever;  // of the listening thread
  bool leaving_ = false;
  bool open_ = true;
};

}  // namespace muster_job
