#include "run/partitions_apart.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace muster {
namespace {

struct Piece {
  Symbol partition = kNoSymbol;
  std::shared_ptr<ClusterSpec> cluster;
  std::vector<JobSpec> jobs;
  std::vector<std::size_t> position;  // of each in the whole list
  std::optional<Error> error;
};

std::vector<Piece> cut(const ClusterSpec& cluster, std::span<const JobSpec> jobs) {
  std::vector<Piece> pieces;
  const auto piece_of = [&pieces](Symbol partition) -> Piece& {
    for (Piece& piece : pieces) {
      if (piece.partition == partition) return piece;
    }
    Piece& piece = pieces.emplace_back();
    piece.partition = partition;
    piece.cluster = std::make_shared<ClusterSpec>();
    return piece;
  };
  std::vector<NodeId> renumbered;
  for (const NodeSpec& node : cluster.nodes) {
    std::vector<NodeSpec>& nodes = piece_of(node.partition).cluster->nodes;
    renumbered.push_back(NodeId{static_cast<std::uint32_t>(nodes.size())});
    nodes.push_back(node);
  }
  for (NodeChange change : cluster.schedule) {
    Piece& piece = piece_of(cluster.nodes[index(change.node)].partition);
    change.node = renumbered[index(change.node)];
    piece.cluster->schedule.push_back(change);
  }
  for (const PartitionSpec& partition : cluster.partitions) {
    piece_of(partition.name).cluster->partitions.push_back(partition);
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Piece& piece = piece_of(jobs[i].partition);
    piece.jobs.push_back(jobs[i]);
    piece.position.push_back(i);
  }
  return pieces;
}

class Collector final : public Observer {
 public:
  Collector(const Piece& piece, std::vector<JobRecord>& records)
      : piece_(piece), records_(records) {}
  void on_job_end(const JobRecord& record) override {
    const std::size_t position = piece_.position[index(record.id)];
    records_[position] = record;
    records_[position].id = JobId{static_cast<std::uint32_t>(position)};
  }

 private:
  const Piece& piece_;
  std::vector<JobRecord>& records_;
};

void run_piece(Piece& piece, const ApartSettings& settings, std::vector<JobRecord>& records) {
  Collector collector(piece, records);
  SimBackend backend(piece.cluster, settings.perf, settings.cost, settings.failures,
                     settings.progress);
  ListSource source(piece.jobs);
  Engine::Parts parts;
  parts.cluster = piece.cluster;
  parts.perf = settings.perf;
  parts.pacing = settings.tick > 0 ? make_ticks(settings.tick) : make_events();
  parts.combinations.push_back(settings.policies(piece.partition));
  if (settings.scaling) parts.scaling = settings.scaling(piece.partition);
  parts.forecast = settings.forecast;
  parts.backend = &backend;
  parts.source = &source;
  if (settings.observers) parts.observers = settings.observers(piece.partition);
  parts.observers.push_back(&collector);
  parts.options = settings.options;
  Engine engine(std::move(parts));
  if (const Status status = engine.run(); !status) piece.error = status.error();
}

}  // namespace

Result<std::vector<JobRecord>> run_partitions_apart(const ClusterSpec& cluster,
                                                    std::span<const JobSpec> jobs,
                                                    const ApartSettings& settings) {
  std::vector<Piece> pieces = cut(cluster, jobs);
  // The longest first, so that no thread is left with it at the end.
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.jobs.size() > b.jobs.size(); });
  std::vector<JobRecord> records(jobs.size());
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t wanted = settings.threads > 0 ? static_cast<std::size_t>(settings.threads)
                                                  : static_cast<std::size_t>(cores);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < pieces.size(); i = next++) {
      run_piece(pieces[i], settings, records);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(wanted, pieces.size()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  for (const Piece& piece : pieces) {
    if (piece.error) return *piece.error;
  }
  return records;
}

}  // namespace muster
