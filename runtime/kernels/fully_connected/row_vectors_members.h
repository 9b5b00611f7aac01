// Where assembly finds the members of RowVectors.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define ROW_VECTORS_INPUT 0
#define ROW_VECTORS_TABLE 4
#define ROW_VECTORS_OUTPUT 8
#define ROW_VECTORS_CHANNELS 12
#define ROW_VECTORS_VECTORS 16
#define ROW_VECTORS_FIRST 20
#define ROW_VECTORS_LEAST 24
#define ROW_VECTORS_MOST 28

#ifndef __ASSEMBLER__

#include "runtime/kernels/fully_connected/row_vectors.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_INPUT, RowVectors, input);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_TABLE, RowVectors, table);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_OUTPUT, RowVectors, output);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_CHANNELS, RowVectors, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_VECTORS, RowVectors, vectors);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_FIRST, RowVectors, first);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_LEAST, RowVectors, least);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_MOST, RowVectors, most);
static_assert(row_vectors::kChannels == 8 && row_vectors::kVector == 8,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
