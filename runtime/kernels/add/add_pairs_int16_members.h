// Where assembly finds the members of PairSum.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define PAIR_SUM_FACTOR 0
#define PAIR_SUM_MULTIPLIER 4
#define PAIR_SUM_UNIT 8
#define PAIR_SUM_OUTPUT_MULTIPLIER 12
#define PAIR_SUM_OUTPUT_UNIT 16
#define PAIR_SUM_LIMITS 20
#define PAIR_SUM_LEAST 24
#define PAIR_SUM_MOST 28

// Values of `limits`.
#define PAIR_SUM_NO_LIMITS 0
#define PAIR_SUM_NOT_NEGATIVE 1

#ifndef __ASSEMBLER__

#include "runtime/kernels/add/add_pairs_int16.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SUM_FACTOR, PairSum, factor);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SUM_MULTIPLIER, PairSum, multiplier);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SUM_UNIT, PairSum, unit);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SUM_OUTPUT_MULTIPLIER, PairSum, output_multiplier);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SUM_OUTPUT_UNIT, PairSum, output_unit);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SUM_LIMITS, PairSum, limits);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SUM_LEAST, PairSum, least);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SUM_MOST, PairSum, most);
static_assert(pair_sums::kNoLimits == PAIR_SUM_NO_LIMITS &&
                  pair_sums::kNotNegative == PAIR_SUM_NOT_NEGATIVE,
              "assembly tells the limits apart by these");
static_assert(pair_sums::kAtATime == 2, "assembly has this size in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
