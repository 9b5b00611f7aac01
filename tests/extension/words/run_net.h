// Runs a network with kernels of `words`.
#pragma once

namespace cmsis_nn_delegate::words {

/// Returns whether every run gives the reference's outputs, from the payload and as C++ calls.
bool payload_runs();
bool calls_run();

}  // namespace cmsis_nn_delegate::words
