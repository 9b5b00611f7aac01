// Where assembly finds the members of PooledWindows.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define POOLED_INPUT 0
#define POOLED_OUTPUT 4
#define POOLED_DOWN 8
#define POOLED_ACROSS 12
#define POOLED_INPUT_NEXT 16
#define POOLED_OUTPUT_NEXT 20
#define POOLED_STEP 24
#define POOLED_ROWS 28
#define POOLED_COLUMNS 32
#define POOLED_ROW_GAP 36
#define POOLED_NEXT_ROW 40
#define POOLED_PIXEL 44
#define POOLED_LEAST 48
#define POOLED_MOST 52
#define POOLED_LIMITED 56
#define POOLED_RECIPROCAL 60

#ifndef __ASSEMBLER__

#include "runtime/kernels/common/pooled_windows.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_INPUT, PooledWindows, input);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_OUTPUT, PooledWindows, output);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_DOWN, PooledWindows, down);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_ACROSS, PooledWindows, across);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_INPUT_NEXT, PooledWindows, input_next);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_OUTPUT_NEXT, PooledWindows, output_next);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_STEP, PooledWindows, step);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_ROWS, PooledWindows, rows);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_COLUMNS, PooledWindows, columns);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_ROW_GAP, PooledWindows, row_gap);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_NEXT_ROW, PooledWindows, next_row);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_PIXEL, PooledWindows, pixel);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_LEAST, PooledWindows, least);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_MOST, PooledWindows, most);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_LIMITED, PooledWindows, limited);
CMSIS_NN_DELEGATE_MEMBER_AT(POOLED_RECIPROCAL, PooledWindows, reciprocal);

}  // namespace cmsis_nn_delegate::portable

#endif
