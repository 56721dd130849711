#include "conformance/cases.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/random.h"
#include "base/text.h"

namespace muster {

std::string case_name(const Choice& choice) {
  std::string name = choice.name;
  for (const auto& [param, value] : choice.params) name += fmt::format("_{}_{}", param, value);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

std::vector<JobSpec> mixed_jobs(Symbols& symbols, std::uint64_t seed) {
  Random random(seed, "mixed jobs");
  const char* models[] = {"res50", "lstm", "alexnet", "unheard-of"};
  std::vector<JobSpec> jobs;
  Seconds arrival = 0;
  for (int i = 0; i < 60; ++i) {
    arrival += random.chance(0.2) ? 0 : random.exponential(12);
    JobSpec job = job_of(arrival, random.log_uniform(0.5, 2.5),
                         static_cast<int>(random.integer(1, random.chance(0.3) ? 8 : 3)));
    if (random.chance(0.3)) {
      job.min_gpus = 1;
      job.max_gpus = 8;
    }
    if (random.chance(0.5)) job.estimate = job.duration * random.uniform(0.5, 2);
    if (random.chance(0.3)) job.deadline = job.submit + 3 * job.duration;
    job.priority = static_cast<int>(random.integer(0, 2));
    job.model = symbols.intern(models[random.below(4)]);
    job.user = symbols.intern(random.chance(0.5) ? "ann" : "bob");
    if (random.chance(0.3)) job.cpus = 2.0 * job.gpus;
    jobs.push_back(job);
  }
  return jobs;
}

ClusterSpec plain_cluster() {
  ClusterSpec cluster = uniform_cluster(3, 4);
  for (NodeSpec& node : cluster.nodes) {
    node.cpus = 16;
    node.memory_gb = 128;
  }
  cluster.nodes[2].rack = 1;
  return cluster;
}

ClusterSpec divided_cluster(Symbols& symbols) {
  const Symbol v100 = symbols.intern("v100");
  const Symbol k80 = symbols.intern("k80");
  const Symbol research = symbols.intern("research");
  const Symbol product = symbols.intern("product");
  const Symbol guests = symbols.intern("guests");
  ClusterSpec cluster;
  const auto add = [&cluster](int gpus, Symbol type, Symbol partition) {
    NodeSpec node;
    node.gpus = gpus;
    node.gpu_type = type;
    node.partition = partition;
    node.cpus = 4.0 * gpus;
    node.rack = static_cast<int>(cluster.nodes.size()) / 3;
    cluster.nodes.push_back(node);
  };
  add(4, v100, kNoSymbol);
  add(8, k80, kNoSymbol);
  add(4, v100, research);
  add(4, k80, research);
  add(8, v100, product);
  cluster.partitions = {{research, 0}, {product, 6}, {guests, 3}};
  return cluster;
}

void spread_over(std::vector<JobSpec>& jobs, Symbols& symbols) {
  Random random(3, "partitions");
  for (JobSpec& job : jobs) {
    const char* partitions[] = {"", "", "research", "product", "guests"};
    job.partition = symbols.intern(partitions[random.below(5)]);
    if (random.chance(0.3)) job.gpu_type = symbols.intern(random.chance(0.5) ? "v100" : "k80");
  }
}

Scenario mixed_scenario(std::uint64_t seed) {
  Scenario scenario;
  scenario.cluster = plain_cluster();
  scenario.jobs = mixed_jobs(*scenario.symbols, seed);
  // Less than the shortest turn of any case, or jobs that take turns would never get on.
  scenario.cost.first_start = 0.125;
  scenario.cost.restart = 0.25;
  scenario.cost.checkpoint_interval = 20;
  scenario.perf = {{"scaling"}, {"locality"}};
  return scenario;
}

Scenario divided_scenario(std::uint64_t seed) {
  Scenario scenario = mixed_scenario(seed);
  scenario.cluster = divided_cluster(*scenario.symbols);
  spread_over(scenario.jobs, *scenario.symbols);
  return scenario;
}

std::string line_of(const JobRecord& record) {
  return fmt::format(
      "job {} {} start={} end={} queue={} gpu_seconds={} lost={} overhead={} "
      "preemptions={} restarts={} resizes={}",
      index(record.id), job_state_name(record.status), exact_text(record.start),
      exact_text(record.end), exact_text(record.queue), exact_text(record.gpu_seconds),
      exact_text(record.lost_work), exact_text(record.overhead), record.preemptions,
      record.restarts, record.resizes);
}

std::vector<std::string> transcript(const RunLog& log) {
  std::vector<std::string> lines = log.lines();
  for (const auto& [decision, gpus] : log.placements) {
    std::string line = fmt::format("{} on", line_of(decision));
    for (int i = 0; i < gpus.nodes(); ++i) {
      line += fmt::format(" {}:{:x}", index(gpus[i].node), gpus[i].mask);
    }
    lines.push_back(line);
  }
  for (const JobRecord& job : log.jobs) lines.push_back(line_of(job));
  return lines;
}

std::vector<std::string> deeds(const RunLog& log) {
  std::vector<std::string> lines = transcript(log);
  std::erase_if(lines, [](const std::string& line) { return line.find(" block ") != line.npos; });
  return lines;
}

std::string first_difference(const std::vector<std::string>& one,
                             const std::vector<std::string>& other) {
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    const std::string here = i < one.size() ? one[i] : "the end";
    const std::string there = i < other.size() ? other[i] : "the end";
    if (here != there) return fmt::format("line {}: {} | {}", i, here, there);
  }
  return "";
}

}  // namespace muster
