// Where assembly finds the members of SoftmaxRow.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define SOFTMAX_ROW_INPUT 0
#define SOFTMAX_ROW_OUTPUT 4
#define SOFTMAX_ROW_TABLE 8
#define SOFTMAX_ROW_SIZE 12
#define SOFTMAX_ROW_MOST 16
#define SOFTMAX_ROW_INVERSE 20
#define SOFTMAX_ROW_EXPONENT 24

// Bits of an exponential that the sum drops.
#define SOFTMAX_ACCUMULATION_BITS 12

#ifndef __ASSEMBLER__

#include "runtime/kernels/common/softmax_table_rows.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(SOFTMAX_ROW_INPUT, SoftmaxRow, input);
CMSIS_NN_DELEGATE_MEMBER_AT(SOFTMAX_ROW_OUTPUT, SoftmaxRow, output);
CMSIS_NN_DELEGATE_MEMBER_AT(SOFTMAX_ROW_TABLE, SoftmaxRow, table);
CMSIS_NN_DELEGATE_MEMBER_AT(SOFTMAX_ROW_SIZE, SoftmaxRow, size);
CMSIS_NN_DELEGATE_MEMBER_AT(SOFTMAX_ROW_MOST, SoftmaxRow, most);
CMSIS_NN_DELEGATE_MEMBER_AT(SOFTMAX_ROW_INVERSE, SoftmaxRow, inverse);
CMSIS_NN_DELEGATE_MEMBER_AT(SOFTMAX_ROW_EXPONENT, SoftmaxRow, exponent);
static_assert(softmax_rows::kAccumulationBits == SOFTMAX_ACCUMULATION_BITS,
              "assembly has another scale");

}  // namespace cmsis_nn_delegate::portable

#endif
