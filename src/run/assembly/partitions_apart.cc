#include "run/assembly/partitions_apart.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

#include "base/parallel.h"

namespace muster {
namespace {

struct Piece {
  Symbol partition = kNoSymbol;
  std::shared_ptr<ClusterSpec> cluster = std::make_shared<ClusterSpec>();
  std::vector<JobSpec> jobs;
  std::optional<Error> error;
};

// Cuts cluster and jobs; the logs get the numbers.
std::vector<Piece> cut(const ClusterSpec& cluster, std::span<const JobSpec> jobs, bool apart,
                       std::vector<PieceLog>& logs) {
  std::vector<Piece> pieces;
  const auto place_of = [&](Symbol partition) -> std::size_t {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!apart || pieces[i].partition == partition) return i;
    }
    pieces.emplace_back().partition = apart ? partition : kNoSymbol;
    logs.emplace_back();
    return pieces.size() - 1;
  };
  std::vector<NodeId> renumbered;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    const NodeSpec& node = cluster.nodes[i];
    const std::size_t at = place_of(node.partition);
    std::vector<NodeSpec>& nodes = pieces[at].cluster->nodes;
    renumbered.push_back(NodeId{static_cast<std::uint32_t>(nodes.size())});
    nodes.push_back(node);
    logs[at].nodes.push_back(NodeId{static_cast<std::uint32_t>(i)});
    logs[at].gpus += node.spare ? 0 : node.gpus;
  }
  for (NodeChange change : cluster.schedule) {
    Piece& piece = pieces[place_of(cluster.nodes[index(change.node)].partition)];
    change.node = renumbered[index(change.node)];
    piece.cluster->schedule.push_back(change);
  }
  for (const PartitionSpec& partition : cluster.partitions) {
    pieces[place_of(partition.name)].cluster->partitions.push_back(partition);
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::size_t at = place_of(jobs[i].partition);
    pieces[at].jobs.push_back(jobs[i]);
    logs[at].jobs.push_back(JobId{static_cast<std::uint32_t>(i)});
  }
  return pieces;
}

// False when keep_going ended it.
bool run_piece(Piece& piece, const ApartSettings& settings, PieceLog& log) {
  FailureOptions failures = settings.failures;
  // Every node has a random stream by its number, and every partition numbers from 0.
  if (!log.nodes.empty()) failures.seed += 1'000'003 * index(log.nodes.front());
  SimParts sim{piece.cluster, settings.perf, settings.cost, failures};
  const std::unique_ptr<Backend> backend = settings.backend
                                               ? settings.backend(std::move(sim))
                                               : std::make_unique<SimBackend>(std::move(sim));
  ListSource source(piece.jobs);
  Engine::Parts parts = settings.parts(piece.partition);
  parts.cluster = piece.cluster;
  parts.perf = settings.perf;
  parts.backend = backend.get();
  parts.source = &source;
  parts.observers.push_back(&log);
  parts.options = settings.options;
  Engine engine(std::move(parts));
  bool stopped = false;
  const Status status = engine.run([&] {
    stopped = settings.keep_going && !settings.keep_going();
    return !stopped;
  });
  if (!status) piece.error = status.error();
  return !stopped;
}

}  // namespace

Result<ApartOutcome> run_partitions_apart(const ClusterSpec& cluster, std::span<const JobSpec> jobs,
                                          const ApartSettings& settings) {
  ApartOutcome outcome;
  std::vector<Piece> pieces = cut(cluster, jobs, settings.apart, outcome.pieces);
  // The longest first, so that no thread is left with it at the end.
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return pieces[a].jobs.size() > pieces[b].jobs.size();
  });
  std::atomic<bool> stopped{false};
  in_parallel(pieces.size(), settings.threads, [&](std::size_t i) {
    if (!run_piece(pieces[order[i]], settings, outcome.pieces[order[i]])) stopped = true;
  });
  for (const Piece& piece : pieces) {
    if (piece.error) return *piece.error;
  }
  outcome.complete = !stopped;
  return outcome;
}

std::vector<JobRecord> records_of(std::span<const PieceLog> pieces, std::size_t jobs) {
  std::vector<JobRecord> records(jobs);
  for (const PieceLog& piece : pieces) {
    for (const JobRecord& told : piece.records()) {
      if (piece.told && !piece.told(told.id)) continue;
      JobRecord& record = records[index(piece.jobs[index(told.id)])];
      record = told;
      record.id = piece.jobs[index(told.id)];
      if (piece.amend) piece.amend(record);
    }
  }
  return records;
}

}  // namespace muster
