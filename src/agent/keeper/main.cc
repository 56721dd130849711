// muster-keeper RUN_FOLDER: keeps the launch whose order.json is in the folder.
#include <cstdio>

#include "agent/keeper/guard.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: muster-keeper RUN_FOLDER\n", stderr);
    return 2;
  }
  return muster::guard_launch(arguments[1]);
}
