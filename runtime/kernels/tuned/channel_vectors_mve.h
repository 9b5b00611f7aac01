// The inner loops of channel_vectors.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/portable/channel_vectors.h"
#include "runtime/kernels/tuned/vector_products_mve.h"

namespace cmsis_nn_delegate {
namespace tuned {

extern "C" {
// A row of outputs with stride 1, and 2.
void cmsis_nn_delegate_channel_vectors_dense(const portable::ChannelRow* row);
void cmsis_nn_delegate_channel_vectors_strided(const portable::ChannelRow* row);
}

struct MveChannelVectors : MveVectorProducts {
  static void compute_dense(const portable::ChannelRow& row) {
    cmsis_nn_delegate_channel_vectors_dense(&row);
  }
  static void compute_strided(const portable::ChannelRow& row) {
    cmsis_nn_delegate_channel_vectors_strided(&row);
  }
};

}  // namespace tuned
}  // namespace cmsis_nn_delegate
