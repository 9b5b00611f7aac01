// Where assembly finds the members of MatrixColumns and MatrixVectors.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define MATRIX_COLUMNS_ROWS 0
#define MATRIX_COLUMNS_TABLE 4
#define MATRIX_COLUMNS_COLUMNS 8
#define MATRIX_COLUMNS_FIRST 12
#define MATRIX_COLUMNS_VECTORS 16
#define MATRIX_COLUMNS_OFFSET 20
#define MATRIX_COLUMNS_START 24
#define MATRIX_COLUMNS_ROW_BYTES 28

#define MATRIX_VECTORS_ROWS 0
#define MATRIX_VECTORS_STEP 4
#define MATRIX_VECTORS_FIRST 8
#define MATRIX_VECTORS_VECTORS 12
#define MATRIX_VECTORS_TABLE 16
#define MATRIX_VECTORS_OUTPUT 20
#define MATRIX_VECTORS_COLUMNS 24
#define MATRIX_VECTORS_OUTPUT_STEP 28
#define MATRIX_VECTORS_OFFSET 32
#define MATRIX_VECTORS_MULTIPLIER 36
#define MATRIX_VECTORS_SHIFT 40
#define MATRIX_VECTORS_ZERO_POINT 44
#define MATRIX_VECTORS_LEAST 48
#define MATRIX_VECTORS_MOST 52

#ifndef __ASSEMBLER__

#include "runtime/kernels/batch_matmul/matrix_vectors.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_COLUMNS_ROWS, MatrixColumns, rows);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_COLUMNS_TABLE, MatrixColumns, table);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_COLUMNS_COLUMNS, MatrixColumns, columns);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_COLUMNS_FIRST, MatrixColumns, first);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_COLUMNS_VECTORS, MatrixColumns, vectors);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_COLUMNS_OFFSET, MatrixColumns, offset);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_COLUMNS_START, MatrixColumns, start);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_COLUMNS_ROW_BYTES, MatrixColumns, row_bytes);

CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_ROWS, MatrixVectors, rows);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_STEP, MatrixVectors, step);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_FIRST, MatrixVectors, first);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_VECTORS, MatrixVectors, vectors);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_TABLE, MatrixVectors, table);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_OUTPUT, MatrixVectors, output);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_COLUMNS, MatrixVectors, columns);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_OUTPUT_STEP, MatrixVectors, output_step);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_OFFSET, MatrixVectors, offset);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_MULTIPLIER, MatrixVectors, multiplier);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_SHIFT, MatrixVectors, shift);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_ZERO_POINT, MatrixVectors, zero_point);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_LEAST, MatrixVectors, least);
CMSIS_NN_DELEGATE_MEMBER_AT(MATRIX_VECTORS_MOST, MatrixVectors, most);
static_assert(matrix_vectors::kVector == 16 && matrix_vectors::kRows == 2 &&
                  matrix_vectors::kColumns == 4 && matrix_vectors::kStartBytes == 4,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
