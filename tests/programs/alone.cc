// A job that must not run twice at once, and cries out if it does: it holds locks on its name and
// on each of its GPUs while anything of it lives.
//
//   alone NAME MILLISECONDS [flee]
//
// Work is done in steps of 10 ms and kept in NAME.step, so that whoever is killed loses one of
// them. With `flee` a child in a session of its own holds the locks as well and never ends: what
// was forgotten of an earlier launch shows in the next one.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <unistd.h>

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void append(const std::string& file, const std::string& line) {
  const int out = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (out < 0 || write(out, line.data(), line.size()) < 0) std::exit(3);
  close(out);
}

// Kept until the process and all its children have ended.
void lock(const std::string& what) {
  const int file = open((what + ".lock").c_str(), O_RDWR | O_CREAT, 0666);
  if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) return;
  append(what + ".twice", variable("MUSTER_JOB") + "." + variable("MUSTER_LAUNCH") + "\n");
  std::exit(9);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string name = arguments[1];
  const int steps = std::atoi(arguments[2]) / 10;
  lock(name);
  std::string gpus = variable("CUDA_VISIBLE_DEVICES");
  while (!gpus.empty()) {
    const std::size_t comma = gpus.find(',');
    lock("gpu" + gpus.substr(0, comma));
    gpus = comma == std::string::npos ? "" : gpus.substr(comma + 1);
  }
  append(name + ".launches", variable("MUSTER_LAUNCH") + "\n");
  if (count > 3 && fork() == 0) {
    setsid();
    while (true) pause();
  }
  const int file = open((name + ".step").c_str(), O_RDWR | O_CREAT, 0666);
  int step = 0;
  if (file < 0 || pread(file, &step, sizeof step, 0) < 0) return 3;
  for (; step < steps; ++step) {
    usleep(10'000);
    const int done = step + 1;
    if (pwrite(file, &done, sizeof done, 0) < 0) return 3;
  }
  append(name + ".done", variable("MUSTER_LAUNCH") + "\n");
  return 0;
}
