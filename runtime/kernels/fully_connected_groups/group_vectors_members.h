// Where assembly finds the members of GroupVectors.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define GROUP_VECTORS_INPUT 0
#define GROUP_VECTORS_TABLE 4
#define GROUP_VECTORS_OUTPUT 8
#define GROUP_VECTORS_CHANNELS 12
#define GROUP_VECTORS_SUMS 16
#define GROUP_VECTORS_EIGHTS 20
#define GROUP_VECTORS_VECTORS 24
#define GROUP_VECTORS_GROUPS 28
#define GROUP_VECTORS_QUADS 32
#define GROUP_VECTORS_START 36
#define GROUP_VECTORS_NARROWING 40
#define GROUP_VECTORS_OFFSET 44
#define GROUP_VECTORS_LEAST 48
#define GROUP_VECTORS_MOST 52

#ifndef __ASSEMBLER__

#include "runtime/kernels/fully_connected_groups/group_vectors.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_INPUT, GroupVectors, input);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_TABLE, GroupVectors, table);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_OUTPUT, GroupVectors, output);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_CHANNELS, GroupVectors, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_SUMS, GroupVectors, sums);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_EIGHTS, GroupVectors, eights);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_VECTORS, GroupVectors, vectors);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_GROUPS, GroupVectors, groups);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_QUADS, GroupVectors, quads);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_START, GroupVectors, start);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_NARROWING, GroupVectors, narrowing);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_OFFSET, GroupVectors, offset);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_LEAST, GroupVectors, least);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_VECTORS_MOST, GroupVectors, most);
static_assert(GroupVectors::kChannels == 8 && GroupVectors::kPart == 4 &&
                  GroupVectors::kQuad == 4 && GroupVectors::kVector == 16 &&
                  group_vectors::kScaleBytes == 40,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
