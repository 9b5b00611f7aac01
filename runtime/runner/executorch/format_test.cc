#include "runtime/runner/executorch/format.h"

#include <climits>
#include <cstdio>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace cmsis_nn_delegate::runner {
namespace {

int call(int (*function)(char*, std::size_t, const char*, std::va_list), char* buffer,
         std::size_t size, const char* text, ...) {
  std::va_list arguments;
  va_start(arguments, text);
  const int length = function(buffer, size, text, arguments);
  va_end(arguments);
  return length;
}

/// Both functions give the same text and length for every buffer size, up to more than enough.
template <typename... Arguments>
void expect_same(const char* text, Arguments... arguments) {
  for (std::size_t size = 0; size < 80; ++size) {
    char expected[80];
    char actual[80];
    std::memset(expected, '#', sizeof(expected));
    std::memset(actual, '#', sizeof(actual));
    ASSERT_EQ(call(format, actual, size, text, arguments...),
              call(std::vsnprintf, expected, size, text, arguments...));
    ASSERT_EQ(std::memcmp(actual, expected, sizeof(actual)), 0) << text << " in " << size;
  }
}

TEST(Format, IsWhatTheCLibraryDoes) {
  expect_same("");
  expect_same("plain");
  expect_same("%s%s%s", "aten::add", ".", "out");
  expect_same("%s%s%s", "aten::relu", "", "");
  expect_same("100%% of %c", 'x');
  expect_same("%u %x %lu %lx", 7u, 0xbeefu, ULONG_MAX, ULONG_MAX);
  expect_same("%zu|%zu", std::size_t{0}, static_cast<std::size_t>(-1));
  for (const int value : {0, 1, -1, 10, -99, INT_MAX, INT_MIN}) {
    expect_same("<%d>", value);
  }
  expect_same("%ld %ld", LONG_MIN, LONG_MAX);
}

TEST(Format, AnUnknownConversionEndsIt) {
  char buffer[32];
  EXPECT_EQ(call(format, buffer, sizeof(buffer), "%d %f %s", 1, 2.0, "no"), 7);
  EXPECT_STREQ(buffer, "1 %f %s");
}

}  // namespace
}  // namespace cmsis_nn_delegate::runner
