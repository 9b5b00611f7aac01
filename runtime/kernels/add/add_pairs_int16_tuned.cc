#include "runtime/kernels/add/add_pairs_int16.h"

#include "runtime/kernels/add/add_pairs_int16_members.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

extern "C" void cmsis_nn_delegate_add_pairs_int16(const std::int16_t* a, const std::int16_t* b,
                                                  std::int16_t* output, std::int32_t words,
                                                  const portable::PairSum* p);

namespace {

/// For DSP and for MVE.
struct AssemblyPairSums {
  static void add(const std::int16_t* a, const std::int16_t* b, std::int16_t* output,
                  std::int32_t words, const portable::PairSum& p) {
    cmsis_nn_delegate_add_pairs_int16(a, b, output, words, &p);
  }
};

}  // namespace

Error run_add_pairs_int16(const void* args, const Bases& bases) {
  return portable::compute_add_pairs_int16<DspOrMve<AssemblyPairSums, portable::PlainPairSums>>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kAddPairsInt16> kAddPairsInt16 =
    portable::add_pairs_int16_kernel(run_add_pairs_int16);

}  // namespace cmsis_nn_delegate::tuned
