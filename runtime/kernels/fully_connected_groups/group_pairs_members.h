// Where assembly finds the members of GroupPairs.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define GROUP_PAIRS_INPUTS 0
#define GROUP_PAIRS_MINUS_EIGHTS 4
#define GROUP_PAIRS_GROUPS 8
#define GROUP_PAIRS_GROUP_BYTES 12
#define GROUP_PAIRS_TABLE 16
#define GROUP_PAIRS_TOTALS 24

#ifndef __ASSEMBLER__

#include "runtime/kernels/fully_connected_groups/group_pairs.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_PAIRS_INPUTS, GroupPairs, inputs);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_PAIRS_MINUS_EIGHTS, GroupPairs, minus_eights);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_PAIRS_GROUPS, GroupPairs, groups);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_PAIRS_GROUP_BYTES, GroupPairs, group_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_PAIRS_TABLE, GroupPairs, table);
CMSIS_NN_DELEGATE_MEMBER_AT(GROUP_PAIRS_TOTALS, GroupPairs, totals);
static_assert(GroupPairs::kChannels == 8 && GroupPairs::kDepth == 8 &&
                  pair_products::JointNibbles::kBits == 4,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
