// Finds the payloads of the delegate in a program.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/runner/regions.h"

namespace cmsis_nn_delegate::runner {

/// Adds to `regions` the payload of each delegate that method `method` of the .pte of `bytes` bytes at `program` has on
/// this backend. Program::load() must have accepted the .pte.
void add_regions_of_delegates(const std::uint8_t* program, std::size_t bytes, const char* method,
                              Regions& regions);

}  // namespace cmsis_nn_delegate::runner
