// Finding and ending everything a launch has started, whatever it did to get away.
//
// A process can leave its process group, its session and its parent. It cannot leave the child
// subreaper above it: when its parent ends it becomes the subreaper's child. So all descendants of
// a keeper belong to its launch, and when the kernel says that the keeper has no children any more,
// nothing is left.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace muster {

// All processes below `root`, parents before their children; zombies are left out.
std::vector<pid_t> descendants(pid_t root);

// Kills all descendants of this process: stops them first until no new ones appear, so that none
// escapes by forking. Returns how many there were; zombies of our own remain to be reaped.
int kill_descendants();

// Kills all processes whose environment holds NAME=VALUE, other than this one: for what remains
// when a keeper and its guard were killed at the same moment. Finds only those that kept the
// environment with which they were started. Returns how many there were.
int kill_marked(std::string_view name, std::string_view value);

}  // namespace muster
