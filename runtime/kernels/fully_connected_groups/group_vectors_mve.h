// The function of group_vectors.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/fully_connected_groups/group_vectors.h"
#include "runtime/kernels/fully_connected_groups/group_vectors_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_group_vectors(const portable::GroupVectors* row);
}

struct MveGroupVectors {
  static void multiply(const portable::GroupVectors& row) { cmsis_nn_delegate_group_vectors(&row); }
};

}  // namespace cmsis_nn_delegate::tuned
