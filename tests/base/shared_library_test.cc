#include "base/shared_library.h"

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const MissingLibrary& missing) {
    return missing.what();
  }
  return "nothing was thrown";
}

TEST(SharedLibrary, FindsFunctionsOfTheFirstFileThatIsThere) {
  const SharedLibrary library({"libmuster-none.so.1", "libm.so.6"}, "libc6");
  double (*square_root)(double) = library.function("sqrt");
  EXPECT_EQ(square_root(9), 3);
}

TEST(SharedLibrary, NamesWhatToInstall) {
  EXPECT_THAT(message_of([] {
                SharedLibrary({"libmuster-none.so.1", "libmuster-none.so"}, "muster-none");
              }),
              AllOf(HasSubstr("libmuster-none.so.1"), HasSubstr("apt-get install muster-none")));
}

TEST(SharedLibrary, NamesAFunctionThatIsNotThere) {
  const SharedLibrary library({"libm.so.6"}, "libc6");
  EXPECT_THAT(message_of([&library] { library.function("square_root"); }),
              AllOf(HasSubstr("libm.so.6"), HasSubstr("square_root"), HasSubstr("libc6")));
}

}  // namespace
}  // namespace muster
