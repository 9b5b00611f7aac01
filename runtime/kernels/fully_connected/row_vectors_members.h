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
#define ROW_VECTORS_OFFSET 32

#ifndef __ASSEMBLER__

#include "runtime/kernels/fully_connected/row_vectors.h"

namespace cmsis_nn_delegate::portable {

using RowVectorsInt8 = RowVectors<std::int8_t>;
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_INPUT, RowVectorsInt8, input);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_TABLE, RowVectorsInt8, table);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_OUTPUT, RowVectorsInt8, output);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_CHANNELS, RowVectorsInt8, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_VECTORS, RowVectorsInt8, vectors);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_FIRST, RowVectorsInt8, first);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_LEAST, RowVectorsInt8, least);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_MOST, RowVectorsInt8, most);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_VECTORS_OFFSET, RowVectorsInt8, offset);
static_assert(sizeof(RowVectorsInt8) == sizeof(RowVectors<std::int16_t>),
              "both have the same members");
static_assert(row_vectors::kChannels == 8 && row_vectors::kVector<std::int8_t> == 16 &&
                  row_vectors::kVector<std::int16_t> == 8,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
