// Runs a fuzzer without libFuzzer, so that every compiler and every test run exercises it.
//
//   NAME_fuzz FILE...                               each file once: to reproduce a finding
//   NAME_fuzz [--corpus DIR] [--runs N] [--seed S]  each seed of DIR, then N mutations of them
//
// The mutations depend on the seed alone. When an input brings the program down it is written to
// crash-NAME_fuzz in the working directory.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <signal.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());  // NOLINT(*-identifier*)
#endif

namespace {

constexpr std::size_t kLargestInput = 1 << 16;

// What tends to upset a parser of numbers, tables and documents.
constexpr std::array<std::string_view, 24> kTokens = {
    "0",    "-1",   "-0",   "1e308", "1e-320", "NaN", "inf", "9223372036854775808",
    "0x1p", "\"",   "\"\"", "'",     ",",      ";",   "|",   "\t",
    "\n",   "\r\n", "{",    "}",     "[",      "]]",  "\\u", "2017-02-30 25:61:61"};

// Signal handlers reach only globals.
std::string g_crash_file;
const std::string* g_input = nullptr;

void save_input() {
  if (g_input == nullptr) return;
  const int file = open(g_crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  std::size_t written = 0;
  while (written < g_input->size()) {
    const ssize_t count = write(file, g_input->data() + written, g_input->size() - written);
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  close(file);
  g_input = nullptr;
}

void on_signal(int signal_number) {
  save_input();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void watch_for_crashes(const std::string& program) {
  g_crash_file = "crash-" + std::filesystem::path(program).filename().string();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_set_death_callback(&save_input);
  for (const int number : {SIGABRT, SIGILL}) signal(number, &on_signal);
#else
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(number, &on_signal);
#endif
}

void run_one(const std::string& input) {
  g_input = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  g_input = nullptr;
}

bool read_file(const std::filesystem::path& path, std::string& content) {
  std::ifstream stream(path, std::ios::binary);
  content.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  if (stream.bad() || !stream.is_open()) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  return true;
}

// Changes inputs in small ways; draws only from its own generator, by plain remainders, so that the
// same seed gives the same inputs with every standard library.
class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, std::uint64_t seed)
      : seeds_(seeds), engine_(seed) {}

  std::string next() {
    std::string input = seeds_[below(seeds_.size())];
    const std::size_t changes = 1 + below(4);
    for (std::size_t change = 0; change < changes; ++change) mutate(input);
    if (input.size() > kLargestInput) input.resize(kLargestInput);
    return input;
  }

 private:
  std::size_t below(std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::size_t>(engine_() % limit);
  }

  void mutate(std::string& input) {
    const std::size_t at = below(input.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(input.size() - at, 64) + 1);
    switch (below(7)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 1:
        input.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(below(input.size() + 1), input.substr(at, length));
        break;
      case 4:
        input.insert(at, kTokens[below(kTokens.size())]);
        break;
      case 5:
        input.replace(at, length, kTokens[below(kTokens.size())]);
        break;
      default: {
        const std::string& other = seeds_[below(seeds_.size())];
        input = input.substr(0, at) + other.substr(below(other.size() + 1));
        break;
      }
    }
  }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 engine_;
};

// The seeds in the order of their names, so that a run does not depend on the file system.
bool read_corpus(const std::filesystem::path& folder, std::vector<std::string>& seeds) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    if (!read_file(file, seeds.emplace_back())) return false;
  }
  return true;
}

bool parse_number(std::string_view text, std::uint64_t& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

int usage() {
  std::fprintf(stderr, "usage: NAME_fuzz FILE... | [--corpus DIR] [--runs N] [--seed S]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::filesystem::path corpus;
  std::uint64_t runs = 20000;
  std::uint64_t seed = 1;
  std::vector<std::filesystem::path> files;
  for (int index = 1; index < argc; ++index) {
    const std::string_view argument = argv[index];
    if (argument.substr(0, 2) != "--") {
      files.emplace_back(argument);
      continue;
    }
    if (index + 1 == argc) return usage();
    const std::string_view value = argv[++index];
    if (argument == "--corpus") {
      corpus = value;
    } else if (argument == "--runs") {
      if (!parse_number(value, runs)) return usage();
    } else if (argument == "--seed") {
      if (!parse_number(value, seed)) return usage();
    } else {
      return usage();
    }
  }
  watch_for_crashes(argv[0]);

  std::string input;
  for (const auto& file : files) {
    if (!read_file(file, input)) return 1;
    run_one(input);
  }
  if (!files.empty()) return 0;

  std::vector<std::string> seeds;
  if (!read_corpus(corpus, seeds)) return 1;
  for (const std::string& entry : seeds) run_one(entry);
  const std::size_t read = seeds.size();
  seeds.emplace_back();
  Mutator mutator(seeds, seed);
  for (std::uint64_t run = 0; run < runs; ++run) {
    input = mutator.next();
    run_one(input);
  }
  std::printf("%zu seeds and %llu mutations of them, seed %llu: no crash\n", read,
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(seed));
  return 0;
}
