// Where assembly finds the members of CopyAxis.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define COPY_AXIS_SIZE 0
#define COPY_AXIS_INPUT_STRIDE 4
#define COPY_AXIS_OUTPUT_STRIDE 8

#ifndef __ASSEMBLER__

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::payload {

CMSIS_NN_DELEGATE_MEMBER_AT(COPY_AXIS_SIZE, CopyAxis, size);
CMSIS_NN_DELEGATE_MEMBER_AT(COPY_AXIS_INPUT_STRIDE, CopyAxis, input_stride);
CMSIS_NN_DELEGATE_MEMBER_AT(COPY_AXIS_OUTPUT_STRIDE, CopyAxis, output_stride);

}  // namespace cmsis_nn_delegate::payload

#endif
