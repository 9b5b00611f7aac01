// Where assembly finds the members of PairProducts and PairSegments.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define PAIR_PRODUCTS_INPUTS 0
#define PAIR_PRODUCTS_INPUTS_END 4
#define PAIR_PRODUCTS_TABLE 8
#define PAIR_PRODUCTS_OUTPUT0 12
#define PAIR_PRODUCTS_OUTPUT1 16
#define PAIR_PRODUCTS_CHANNELS 20
#define PAIR_PRODUCTS_LEAST 24
#define PAIR_PRODUCTS_MOST 28
#define PAIR_PRODUCTS_BYTES 32

#define WIDE_INPUTS 504

#define PAIR_SEGMENTS_SIXTEENS 0
#define PAIR_SEGMENTS_MORE 4
#define PAIR_SEGMENTS_WORDS 8
#define PAIR_SEGMENTS_REST 12
#define PAIR_SEGMENTS_SEGMENTS 16
#define PAIR_SEGMENTS_ROWS 20
#define PAIR_SEGMENTS_STEP 24
#define PAIR_SEGMENTS_ROW_STEP 28
#define PAIR_SEGMENTS_RESTS 32
#define PAIR_SEGMENTS_BYTES 36

#ifndef __ASSEMBLER__

#include "runtime/kernels/common/pair_products.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_PRODUCTS_INPUTS, PairProducts, inputs);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_PRODUCTS_INPUTS_END, PairProducts, inputs_end);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_PRODUCTS_TABLE, PairProducts, table);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_PRODUCTS_OUTPUT0, PairProducts, output0);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_PRODUCTS_OUTPUT1, PairProducts, output1);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_PRODUCTS_CHANNELS, PairProducts, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_PRODUCTS_LEAST, PairProducts, least);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_PRODUCTS_MOST, PairProducts, most);
static_assert(sizeof(void*) != 4 || sizeof(PairProducts) == PAIR_PRODUCTS_BYTES,
              "assembly copies all members");
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SEGMENTS_SIXTEENS, PairSegments, sixteens);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SEGMENTS_MORE, PairSegments, more);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SEGMENTS_WORDS, PairSegments, words);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SEGMENTS_REST, PairSegments, rest);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SEGMENTS_SEGMENTS, PairSegments, segments);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SEGMENTS_ROWS, PairSegments, rows);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SEGMENTS_STEP, PairSegments, step);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SEGMENTS_ROW_STEP, PairSegments, row_step);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_SEGMENTS_RESTS, PairSegments, rests);
static_assert(sizeof(PairSegments) == PAIR_SEGMENTS_BYTES, "assembly copies all members");
// int16 has the same members.
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_PRODUCTS_OUTPUT0, PairProductsOf<std::int16_t>, output0);
CMSIS_NN_DELEGATE_MEMBER_AT(PAIR_PRODUCTS_MOST, PairProductsOf<std::int16_t>, most);
static_assert(pair_products::kBlock == 4 && pair_products::kScales == 3 &&
                  pair_products::kFloorBits == 12 && pair_products::kStartBits == 8 &&
                  pair_products::JointNibbles::kBits == 4 &&
                  pair_products::WideNibbles::kInputs == WIDE_INPUTS,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
