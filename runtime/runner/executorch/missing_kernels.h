// Finds the kernels that a program needs and the image does not have.
#pragma once

#include <cstdint>

#include "runtime/runner/report.h"

namespace cmsis_nn_delegate::runner {

/// Adds to `line` the name of each operator that method `method` of the .pte at `program` calls
/// without a registered kernel, as in "aten::add.out". Program::load() must have accepted the .pte.
void name_missing_kernels(const std::uint8_t* program, const char* method, Line& line);

}  // namespace cmsis_nn_delegate::runner
