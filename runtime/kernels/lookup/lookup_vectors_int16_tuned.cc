#include "runtime/kernels/lookup/lookup_vectors_int16.h"

#include "runtime/kernels/lookup/interpolated_table_members.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

extern "C" void cmsis_nn_delegate_look_up_int16(const portable::InterpolatedTable* table,
                                                const std::int16_t* input, std::int16_t* output,
                                                std::int32_t count);

namespace {

struct MveLookupsInt16 {
  static void look_up(const portable::InterpolatedTable& table, const std::int16_t* input,
                      std::int16_t* output, std::int32_t count) {
    cmsis_nn_delegate_look_up_int16(&table, input, output, count);
  }
};

}  // namespace

Error run_lookup_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_lookup_vectors_int16<
      MveOr<MveLookupsInt16, portable::PlainLookupsInt16>>(args, bases);
}

constexpr KernelOf<payload::Opcode::kLookupVectorsInt16> kLookupVectorsInt16 =
    portable::lookup_vectors_int16_kernel(run_lookup_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
