// A job for tests that run real processes: it works for a while, says how far it is, saves when it
// is asked to stop, and goes on from there the next time.
//
//   worker STATE WORK SPEED [CRASH_AT CRASHES HOW]
//
// STATE is the file it saves to and resumes from. WORK is seconds of work; SPEED is how much of it
// one second does. With CRASH_AT it breaks at that much work, CRASHES times in all, by exit status
// or by a signal (HOW: exit, kill). On standard output, one line each: `progress WORK`, `saved
// WORK`, `done`.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <time.h>

namespace {

volatile std::sig_atomic_t asked_to_stop = 0;

void on_terminate(int) { asked_to_stop = 1; }

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double read_number(const std::string& path) {
  double value = 0;
  if (std::FILE* file = std::fopen(path.c_str(), "r")) {
    if (std::fscanf(file, "%lf", &value) != 1) value = 0;
    std::fclose(file);
  }
  return value;
}

void write_number(const std::string& path, double value) {
  const std::string draft = path + ".new";
  std::FILE* file = std::fopen(draft.c_str(), "w");
  if (file == nullptr) std::exit(3);
  std::fprintf(file, "%.17g\n", value);
  std::fclose(file);
  if (std::rename(draft.c_str(), path.c_str()) != 0) std::exit(3);
}

void say(const char* word, double work) {
  std::printf("%s %.17g\n", word, work);
  std::fflush(stdout);
}

void crash_if_due(double work, int argc, char** argv) {
  if (argc < 7 || work < std::atof(argv[4])) return;
  const std::string count_path = std::string(argv[1]) + ".crashes";
  const double crashes = read_number(count_path);
  if (crashes >= std::atof(argv[5])) return;
  write_number(count_path, crashes + 1);
  if (std::string(argv[6]) == "kill") std::raise(SIGKILL);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  struct sigaction action {};
  action.sa_handler = on_terminate;
  sigaction(SIGTERM, &action, nullptr);
  const std::string state = argv[1];
  const double total = std::atof(argv[2]);
  const double speed = std::atof(argv[3]);
  const double resumed = read_number(state);
  const double began = seconds_now();
  while (true) {
    const double work = resumed + (seconds_now() - began) * speed;
    if (asked_to_stop != 0) {
      const double kept = work < total ? work : total;
      write_number(state, kept);
      say("saved", kept);
      return 0;
    }
    crash_if_due(work, argc, argv);
    if (work >= total) {
      std::printf("done\n");
      std::fflush(stdout);
      return 0;
    }
    say("progress", work);
    const timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
  }
}
