// Includes toml++; use this and never <toml++/toml.h>, and only in .cc files: it takes seconds to
// compile.
//
// Version 3.3 asserts on malformed documents, such as a table header that begins with '@'; compiled
// for release it even tells the compiler that they cannot occur. With its asserts made empty it
// runs on into the checks that report them.
#pragma once

#ifdef NDEBUG
#define MUSTER_RESTORE_NDEBUG
#undef NDEBUG
#endif

#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>  // IWYU pragma: export

#ifdef MUSTER_RESTORE_NDEBUG
#undef MUSTER_RESTORE_NDEBUG
#define NDEBUG
#endif
