// Where assembly finds the members of InterpolatedTable.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define INTERPOLATED_TABLE_ENTRIES 0
#define INTERPOLATED_TABLE_SHIFT 4
#define INTERPOLATED_TABLE_LEAST 8
#define INTERPOLATED_TABLE_MOST 12

#ifndef __ASSEMBLER__

#include "runtime/kernels/lookup/lookup_vectors_int16.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(INTERPOLATED_TABLE_ENTRIES, InterpolatedTable, entries);
CMSIS_NN_DELEGATE_MEMBER_AT(INTERPOLATED_TABLE_SHIFT, InterpolatedTable, shift);
CMSIS_NN_DELEGATE_MEMBER_AT(INTERPOLATED_TABLE_LEAST, InterpolatedTable, least);
CMSIS_NN_DELEGATE_MEMBER_AT(INTERPOLATED_TABLE_MOST, InterpolatedTable, most);

}  // namespace cmsis_nn_delegate::portable

#endif
