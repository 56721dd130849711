#include "policy/muri/group_rounds.h"

#include <algorithm>

#include "model/checkpoint.h"

namespace muster {

GroupRounds::GroupRounds(const GroupingOptions& options)
    : options_(options), random_(options.seed, "profiling noise") {}

void GroupRounds::use(const Interleaving& rule) { rule_ = rule; }

int GroupRounds::profile(const JobSpec& job, double memory_mb) {
  const auto [found, fresh] = profile_of_.try_emplace({memory_mb, job.step_ms, job.stage_ms},
                                                      static_cast<int>(profiles_.size()));
  if (!fresh) return found->second;
  profiles_.push_back(job);
  memory_.push_back(memory_mb);
  if (options_.noise > 0) {
    for (double& stage : profiles_.back().stage_ms) {
      stage *= random_.uniform(1 - options_.noise, 1 + options_.noise);
    }
  }
  return found->second;
}

void GroupRounds::checkpoint(Archive& archive) {
  archive.value(rule_);
  archive.value(random_);
  std::vector<std::tuple<double, double, StageTimes>> seen(profile_of_.size());
  for (const auto& [profile, number] : profile_of_)
    seen[static_cast<std::size_t>(number)] = profile;
  archive.each(seen, [&archive](std::tuple<double, double, StageTimes>& profile) {
    archive.value(std::get<0>(profile));
    archive.value(std::get<1>(profile));
    archive.value(std::get<2>(profile));
  });
  archive.each(profiles_, [&archive](JobSpec& job) { muster::checkpoint(archive, job); });
  archive.list(memory_);
  archive.list(sequence_);
  if (!archive.reading()) return;
  profile_of_.clear();
  sequences_.clear();
  for (std::size_t i = 0; i < seen.size(); ++i) profile_of_[seen[i]] = static_cast<int>(i);
  for (std::size_t i = 0; i < sequence_.size(); ++i) sequences_[sequence_[i]] = static_cast<int>(i);
  joined_.assign(sequence_.size(), {});
  weights_.assign(sequence_.size(), {});
  slower_.assign(sequence_.size(), -1);
  single_.clear();
}

bool GroupRounds::possible(const Sequence& sequence) const {
  const auto specs = specs_of(sequence);
  const auto size = static_cast<std::size_t>(sequence.size);
  std::array<double, kMaxGroup> memory{};
  for (std::size_t i = 0; i < size; ++i) {
    memory[i] = memory_[static_cast<std::size_t>(sequence.profiles[i])];
  }
  return static_cast<bool>(
      check_group(std::span(specs).first(size), std::span(memory).first(size), options_.memory_mb));
}

std::array<const JobSpec*, kMaxGroup> GroupRounds::specs_of(const Sequence& sequence) const {
  std::array<const JobSpec*, kMaxGroup> specs{};
  for (int i = 0; i < sequence.size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    specs[at] = &profiles_[static_cast<std::size_t>(sequence.profiles[at])];
  }
  return specs;
}

int GroupRounds::number_of(const Sequence& sequence) {
  const auto [found, fresh] = sequences_.try_emplace(sequence, static_cast<int>(sequence_.size()));
  if (fresh) {
    sequence_.push_back(sequence);
    joined_.emplace_back();
    weights_.emplace_back();
    slower_.push_back(-1);
  }
  return found->second;
}

int GroupRounds::sequence_of(const Group& group) {
  if (group.sequence >= 0) return group.sequence;
  Sequence sequence;
  sequence.size = group.size;
  for (std::size_t i = 0; i < static_cast<std::size_t>(group.size); ++i) {
    sequence.profiles[i] = group.members[i].profile;
  }
  return number_of(sequence);
}

// The sequence of the members of a, then those of b. Looked up by number, as every turn asks for
// hundreds.
int GroupRounds::joined(int a, int b) {
  std::vector<int>& row = joined_[static_cast<std::size_t>(a)];
  if (row.size() < sequence_.size()) row.resize(sequence_.size(), -1);
  const int known = row[static_cast<std::size_t>(b)];
  if (known >= 0) return known;
  const int fresh = number_of(chained(a, b));
  return joined_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = fresh;
}

GroupRounds::Sequence GroupRounds::chained(int a, int b) const {
  Sequence both = sequence_[static_cast<std::size_t>(a)];
  const Sequence& more = sequence_[static_cast<std::size_t>(b)];
  for (int i = 0; i < more.size; ++i) {
    both.profiles[static_cast<std::size_t>(both.size++)] =
        more.profiles[static_cast<std::size_t>(i)];
  }
  return both;
}

double GroupRounds::weight(int a, int b) {
  std::vector<double>& row = weights_[static_cast<std::size_t>(a)];
  if (row.size() < sequence_.size()) row.resize(sequence_.size(), -1);
  double& known = row[static_cast<std::size_t>(b)];
  if (known >= 0) return known;
  known = 0;
  if (sequence_[static_cast<std::size_t>(a)].size + sequence_[static_cast<std::size_t>(b)].size >
      options_.largest) {
    return known;
  }
  const Sequence both = chained(a, b);
  const auto specs = specs_of(both);
  const auto size = static_cast<std::size_t>(both.size);
  if (!possible(both)) return known;
  const double efficiency = rule_.efficiency(std::span(specs).first(size));
  const double least =
      options_.least_efficiency * static_cast<double>(size) / static_cast<double>(kStages);
  if (efficiency > least) known = efficiency;
  return known;
}

bool GroupRounds::slower_than_serial(const Group& group) {
  const auto id = static_cast<std::size_t>(sequence_of(group));
  if (slower_[id] < 0) {
    const auto specs = specs_of(sequence_[id]);
    double serial = 0;
    for (int i = 0; i < group.size; ++i) serial += rule_.solo(*specs[static_cast<std::size_t>(i)]);
    const double together = rule_.period(
        std::span(specs).first(static_cast<std::size_t>(group.size)), StageOrder::kBest);
    slower_[id] = together / serial > 1 ? 1 : 0;
  }
  return slower_[id] == 1;
}

const std::vector<GroupRounds::Group>& GroupRounds::plan(const std::vector<Bucket>& buckets,
                                                         long long needed, long long capacity) {
  groups_.clear();
  if (!options_.matching) {
    group_neighbours(buckets, needed, capacity);
    return groups_;
  }
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    for (const Member& member : buckets[b].members) {
      Group alone{{member}, 1, static_cast<int>(b)};
      const auto profile = static_cast<std::size_t>(member.profile);
      if (single_.size() <= profile) single_.resize(profile + 1, -1);
      if (single_[profile] < 0) single_[profile] = sequence_of(alone);
      alone.sequence = single_[profile];
      groups_.push_back(alone);
    }
  }
  for (int round = 0; round < options_.largest && needed > capacity; ++round) {
    entries_.clear();
    std::size_t first = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      std::size_t last = first;
      while (last < groups_.size() && groups_[last].bucket == static_cast<int>(b)) ++last;
      match_range(first, last);
      first = last;
    }
    merge(buckets, needed, capacity);
  }
  return groups_;
}

// Adds an entry per pair, at the turn of its later group, and one per group left alone.
void GroupRounds::match_range(std::size_t first, std::size_t last) {
  kinds_.clear();
  used_.clear();
  dense_.resize(sequence_.size(), -1);
  for (std::size_t i = first; i < last; ++i) {
    const auto id = static_cast<std::size_t>(sequence_of(groups_[i]));
    if (id >= dense_.size()) dense_.resize(id + 1, -1);
    if (dense_[id] < 0) {
      dense_[id] = static_cast<int>(used_.size());
      used_.push_back(static_cast<int>(id));
    }
    kinds_.push_back(dense_[id]);
  }
  const std::size_t kinds = used_.size();
  table_.resize(kinds * kinds);
  for (std::size_t a = 0; a < kinds; ++a) {
    for (std::size_t b = 0; b < kinds; ++b) table_[a * kinds + b] = weight(used_[a], used_[b]);
  }
  for (const int id : used_) dense_[static_cast<std::size_t>(id)] = -1;
  const std::vector<int>& mates = matcher_.solve(kinds_, table_);
  const auto start = static_cast<int>(first);
  for (int u = 0; u < static_cast<int>(mates.size()); ++u) {
    const int v = mates[static_cast<std::size_t>(u)];
    const bool agreed = v >= 0 && mates[static_cast<std::size_t>(v)] == u;
    if (!agreed) {
      entries_.push_back({start + u, -1});
    } else if (v < u) {
      entries_.push_back({start + v, start + u});
    }
  }
}

void GroupRounds::merge(const std::vector<Bucket>& buckets, long long& needed, long long capacity) {
  next_.clear();
  for (const Entry& entry : entries_) {
    const Group& first = groups_[static_cast<std::size_t>(entry.first)];
    next_.push_back(first);
    if (entry.second < 0) continue;
    const Group& second = groups_[static_cast<std::size_t>(entry.second)];
    if (needed <= capacity) {
      next_.push_back(second);
      continue;
    }
    Group& merged = next_.back();
    for (int i = 0; i < second.size; ++i) {
      merged.members[static_cast<std::size_t>(merged.size++)] =
          second.members[static_cast<std::size_t>(i)];
    }
    merged.sequence = joined(first.sequence, second.sequence);
    needed -= buckets[static_cast<std::size_t>(first.bucket)].gpus;
  }
  groups_.swap(next_);
}

void GroupRounds::group_neighbours(const std::vector<Bucket>& buckets, long long needed,
                                   long long capacity) {
  const auto largest = static_cast<std::size_t>(options_.largest);
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const std::vector<Member>& members = buckets[b].members;
    for (std::size_t first = 0; first < members.size(); first += largest) {
      Group group{{members[first]}, 1, static_cast<int>(b)};
      for (std::size_t i = first + 1; i < std::min(first + largest, members.size()); ++i) {
        Group larger = group;
        larger.members[static_cast<std::size_t>(larger.size++)] = members[i];
        if (needed > capacity &&
            possible(sequence_[static_cast<std::size_t>(sequence_of(larger))])) {
          group.members[static_cast<std::size_t>(group.size++)] = members[i];
          needed -= buckets[b].gpus;
        } else {
          groups_.push_back({{members[i]}, 1, static_cast<int>(b)});
        }
      }
      groups_.push_back(group);
    }
  }
}

}  // namespace muster
