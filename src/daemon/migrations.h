// Brings a database from the version it has to the version this program knows, one step at a time,
// each in a transaction of its own. Step n makes version n + 1 out of version n; steps are never
// changed once released, only added.
#pragma once

#include <span>
#include <string_view>

#include "daemon/sqlite.h"

namespace muster {

// The steps of the daemon's store.
std::span<const std::string_view> store_migrations();

// Refuses a database of a later version, and one of another program.
Status migrate(Database& database, const std::filesystem::path& file,
               std::span<const std::string_view> steps);

}  // namespace muster
