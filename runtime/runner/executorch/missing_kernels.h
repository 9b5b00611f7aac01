// Which kernels a program needs that the image does not have.
#pragma once

#include <cstdint>

#include "runtime/runner/report.h"

namespace cmsis_nn_delegate {
namespace runner {

/// Adds to `line` the name (as in "aten::add.out") of each operator that method `method` of the
/// .pte at `program` calls and no kernel is registered for. Program::load() accepted the .pte.
void name_missing_kernels(const std::uint8_t* program, const char* method, Line& line);

}  // namespace runner
}  // namespace cmsis_nn_delegate
