#include "runtime/kernels/lookup/lookup_vectors.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

extern "C" void cmsis_nn_delegate_look_up(const std::int8_t* input, const std::int8_t* table,
                                          std::int8_t* output, std::int32_t count);

namespace {

struct MveLookups {
  static void look_up(const std::int8_t* input, const std::int8_t* table, std::int8_t* output,
                      std::int32_t count) {
    cmsis_nn_delegate_look_up(input, table, output, count);
  }
};

}  // namespace

Error run_lookup_vectors(const void* args, const Bases& bases) {
  return portable::compute_lookup_vectors<MveOr<MveLookups, portable::PlainLookups>>(args, bases);
}

constexpr KernelOf<payload::Opcode::kLookupVectors> kLookupVectors =
    portable::lookup_vectors_kernel(run_lookup_vectors);

}  // namespace cmsis_nn_delegate::tuned
