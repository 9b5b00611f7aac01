#include "runtime/kernels/lookup/lookup_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_lookup_vectors(const void* args, const Bases& bases) {
  return compute_lookup_vectors<PlainLookups>(args, bases);
}

constexpr KernelOf<payload::Opcode::kLookupVectors> kLookupVectors =
    lookup_vectors_kernel(run_lookup_vectors);

}  // namespace cmsis_nn_delegate::portable
