// Where assembly finds the members of MatrixVectorsInt16.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define MATRIX_INT16_ROW 0
#define MATRIX_INT16_ROW_STEP 4
#define MATRIX_INT16_COLUMN 8
#define MATRIX_INT16_COLUMN_STEP 12
#define MATRIX_INT16_SECOND_STEP 16
#define MATRIX_INT16_COLUMNS 20
#define MATRIX_INT16_ROW_SIZE 24
#define MATRIX_INT16_OUTPUT 28
#define MATRIX_INT16_OUTPUT_STEP 32
#define MATRIX_INT16_MULTIPLIER 36
#define MATRIX_INT16_SHIFT 40
#define MATRIX_INT16_HALF 44
#define MATRIX_INT16_LEAST 52
#define MATRIX_INT16_MOST 56

#ifndef __ASSEMBLER__

#include "runtime/kernels/batch_matmul/matrix_vectors_int16.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_ROW, MatrixVectorsInt16, row);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_ROW_STEP, MatrixVectorsInt16, row_step);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_COLUMN, MatrixVectorsInt16, column);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_COLUMN_STEP, MatrixVectorsInt16, column_step);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_SECOND_STEP, MatrixVectorsInt16, second_step);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_COLUMNS, MatrixVectorsInt16, columns);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_ROW_SIZE, MatrixVectorsInt16, row_size);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_OUTPUT, MatrixVectorsInt16, output);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_OUTPUT_STEP, MatrixVectorsInt16, output_step);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_MULTIPLIER, MatrixVectorsInt16, multiplier);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_SHIFT, MatrixVectorsInt16, shift);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_HALF, MatrixVectorsInt16, half);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_LEAST, MatrixVectorsInt16, least);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_INT16_MOST, MatrixVectorsInt16, most);

}  // namespace cmsis_nn_delegate::portable

#endif
