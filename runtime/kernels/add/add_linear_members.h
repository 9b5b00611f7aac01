// Where assembly finds the members of LinearSum.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define LINEAR_SUM_FACTOR1 0
#define LINEAR_SUM_FACTOR2 4
#define LINEAR_SUM_CONSTANT 8
#define LINEAR_SUM_LIMITED 12
#define LINEAR_SUM_LEAST 16
#define LINEAR_SUM_MOST 20

// Bits of a sum below the result.
#define ADD_LINEAR_FRACTION_BITS 20

#ifndef __ASSEMBLER__

#include "runtime/kernels/add/add_linear.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(LINEAR_SUM_FACTOR1, LinearSum, factor1);
CMSIS_NN_DELEGATE_MEMBER_AT(LINEAR_SUM_FACTOR2, LinearSum, factor2);
CMSIS_NN_DELEGATE_MEMBER_AT(LINEAR_SUM_CONSTANT, LinearSum, constant);
CMSIS_NN_DELEGATE_MEMBER_AT(LINEAR_SUM_LIMITED, LinearSum, limited);
CMSIS_NN_DELEGATE_MEMBER_AT(LINEAR_SUM_LEAST, LinearSum, least);
CMSIS_NN_DELEGATE_MEMBER_AT(LINEAR_SUM_MOST, LinearSum, most);
static_assert(linear_sums::kFractionBits == ADD_LINEAR_FRACTION_BITS, "assembly has another size");
static_assert(linear_sums::kAtATime == 4, "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
