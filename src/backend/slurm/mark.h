// The word that every job of Slurm that is ours carries in its comment, and from which everything
// is found again after a crash: whose it is, which launch it was placed for, and how often it had
// been requeued by then. With that a job that waits is told from one that ran and was requeued.
//
//   muster/3f9c02d1/-/17/2/1/4     job 17, launch 2, after 1 requeue, with 4 ranks
//   muster/3f9c02d1/1794830/0/0/0/0  found with that nonce, and not placed yet
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/run_id.h"

namespace muster {

struct SlurmMark {
  std::string instance;    // of the state folder: two daemons do not mix
  std::string nonce;       // of a job that was found; empty: it was submitted here
  RunId run{JobId{0}, 0};  // launch 0: not placed yet
  std::uint32_t requeues = 0;
  std::uint32_t ranks = 0;

  friend bool operator==(const SlurmMark&, const SlurmMark&) = default;
};

std::string mark_text(const SlurmMark& mark);
// How all marks of a job that was submitted here begin; LAUNCH/REQUEUES/RANKS follow.
std::string own_mark_prefix(const std::string& instance, JobId job);
// Empty for a comment that is none.
std::optional<SlurmMark> parse_mark(std::string_view text);

// What a found job is called by code that knows nothing of Slurm: its number there and the nonce,
// since Slurm uses numbers again.
struct SlurmOrigin {
  std::uint32_t job = 0;
  std::string nonce;

  friend bool operator==(const SlurmOrigin&, const SlurmOrigin&) = default;
};
std::string origin_text(const SlurmOrigin& origin);
std::optional<SlurmOrigin> parse_origin(std::string_view text);

}  // namespace muster
