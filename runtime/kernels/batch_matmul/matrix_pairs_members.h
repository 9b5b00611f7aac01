// Where assembly finds the members of MatrixPairs.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define MATRIX_PAIRS_ROWS 0
#define MATRIX_PAIRS_TABLE 4
#define MATRIX_PAIRS_OUTPUT0 8
#define MATRIX_PAIRS_OUTPUT1 12
#define MATRIX_PAIRS_COLUMNS 16
#define MATRIX_PAIRS_FOURS 20
#define MATRIX_PAIRS_SHIFT 24
#define MATRIX_PAIRS_MULTIPLIER 28
#define MATRIX_PAIRS_CORRECTION 32
#define MATRIX_PAIRS_LIMITED 36
#define MATRIX_PAIRS_LEAST 40
#define MATRIX_PAIRS_MOST 44
#define MATRIX_PAIRS_BYTES 48

#ifndef __ASSEMBLER__

#include "runtime/kernels/batch_matmul/matrix_pairs.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_ROWS, MatrixPairs, rows);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_TABLE, MatrixPairs, table);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_OUTPUT0, MatrixPairs, output0);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_OUTPUT1, MatrixPairs, output1);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_COLUMNS, MatrixPairs, columns);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_FOURS, MatrixPairs, fours);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_SHIFT, MatrixPairs, shift);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_MULTIPLIER, MatrixPairs, multiplier);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_CORRECTION, MatrixPairs, correction);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_LIMITED, MatrixPairs, limited);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_LEAST, MatrixPairs, least);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_PAIRS_MOST, MatrixPairs, most);
static_assert(sizeof(void*) != 4 || sizeof(MatrixPairs) == MATRIX_PAIRS_BYTES,
              "assembly copies all members");
static_assert(matrix_pairs::kRows == 2 && matrix_pairs::kColumns == 4 && matrix_pairs::kFour == 4 &&
                  matrix_pairs::kWords == 2,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
