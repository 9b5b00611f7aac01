#include "examples/dial_tones/debouncer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dial_tones {
namespace {

/// A result that says `key` with `probability`, and with the rest that it is none.
struct Said {
  int key;
  int probability = 255;  // in steps of 2^-8
};

/// Returns what is reported for each of the results.
std::vector<int> reported(const std::vector<Said>& results) {
  Debouncer debouncer;
  std::vector<int> found;
  for (const Said& said : results) {
    std::int8_t probabilities[kKeys + 1];
    std::fill_n(probabilities, kKeys + 1, std::int8_t{-128});
    probabilities[kNothing] = static_cast<std::int8_t>(127 - said.probability);
    probabilities[said.key] = static_cast<std::int8_t>(said.probability - 128);
    found.push_back(debouncer.take(probabilities));
  }
  return found;
}

TEST(Debouncer, WhatIsSaidOnceIsNoKey) {
  EXPECT_EQ(reported({{5}, {kNothing}, {kNothing}, {7}, {5}}), std::vector<int>(5, kNothing));
}

TEST(Debouncer, AKeyThatIsHeldIsReportedOnce) {
  EXPECT_EQ(reported({{5}, {5}, {5}, {5}}), (std::vector<int>{kNothing, 5, kNothing, kNothing}));
}

TEST(Debouncer, AKeyIsReportedAgainAfterAPause) {
  EXPECT_EQ(reported({{5}, {5}, {kNothing}, {5}, {5}}),
            (std::vector<int>{kNothing, 5, kNothing, kNothing, 5}));
}

TEST(Debouncer, AnotherKeyNeedsNoPause) {
  EXPECT_EQ(reported({{0}, {0}, {15}, {15}}), (std::vector<int>{kNothing, 0, kNothing, 15}));
}

TEST(Debouncer, AKeyNeedsAProbabilityOfSixTenthsOnAverage) {
  // 0.6 is 153.6 steps.
  EXPECT_EQ(reported({{3, 153}, {3, 154}}), (std::vector<int>{kNothing, 3}));
  EXPECT_EQ(reported({{3, 153}, {3, 153}}), (std::vector<int>{kNothing, kNothing}));
  EXPECT_EQ(reported({{3, 255}, {3, 52}}), (std::vector<int>{kNothing, 3}));
}

}  // namespace
}  // namespace dial_tones
