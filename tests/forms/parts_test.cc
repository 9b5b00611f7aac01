// The table of the kernels of a model in two parts: a backend with it runs both, one with the table of a part only that.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/standalone/model.h"
#include "tests/forms/parts/first.h"
#include "tests/forms/parts/first.kernels.h"
#include "tests/forms/parts/parts.kernels.h"
#include "tests/forms/parts/second.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;

constexpr std::size_t kTensors = 2;

alignas(16) std::uint8_t arena[FIRST_ARENA_BYTES + SECOND_ARENA_BYTES];

template <std::size_t kBytes>
Error load(const KernelTable& kernels, const std::uint8_t (&payload)[kBytes]) {
  const CmsisNnBackend backend(kernels);
  StandaloneModel<kTensors> model;
  const Error error = model.load(backend, payload, kBytes, arena, sizeof(arena));
  return error == Error::Ok ? model.run() : error;
}

TEST(KernelsOfPartsTest, BothPartsRun) {
  EXPECT_EQ(load(parts_kernels, first_payload), Error::Ok);
  EXPECT_EQ(load(parts_kernels, second_payload), Error::Ok);
}

TEST(KernelsOfPartsTest, TheTableOfOnePartRunsThatAlone) {
  EXPECT_EQ(load(first_kernels, first_payload), Error::Ok);
  EXPECT_EQ(load(first_kernels, second_payload), Error::DelegateInvalidCompatibility);
}

}  // namespace
}  // namespace cmsis_nn_delegate
