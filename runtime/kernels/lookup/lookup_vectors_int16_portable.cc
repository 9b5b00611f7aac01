#include "runtime/kernels/lookup/lookup_vectors_int16.h"

namespace cmsis_nn_delegate::portable {

Error run_lookup_vectors_int16(const void* args, const Bases& bases) {
  return compute_lookup_vectors_int16<PlainLookupsInt16>(args, bases);
}

constexpr KernelOf<payload::Opcode::kLookupVectorsInt16> kLookupVectorsInt16 =
    lookup_vectors_int16_kernel(run_lookup_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
