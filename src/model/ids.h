// Identities and time. Ids are distinct types, so that a node is never taken for a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace muster {

using Seconds = double;
inline constexpr Seconds kNever = std::numeric_limits<double>::infinity();

// A job's place in the order of arrival, from 0: unique in a run, and the last tie-break
// everywhere.
enum class JobId : std::uint32_t {};
// Where an active job lives in the job table. Slots are recycled when a job leaves.
enum class Slot : std::uint32_t {};
enum class NodeId : std::uint32_t {};
// Nodes of one GPU type in one partition.
enum class PoolId : std::uint32_t {};

inline constexpr JobId kNoJob{0xffffffffU};
inline constexpr Slot kNoSlot{0xffffffffU};
inline constexpr NodeId kNoNode{0xffffffffU};

template <typename Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace muster
