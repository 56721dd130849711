#define TOML_IMPLEMENTATION
#include "base/toml_library.h"
