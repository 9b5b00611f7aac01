#include "runtime/kernels/strided_copy/copy_axis_members.h"
#include "runtime/kernels/strided_copy/strided_copy_vectors.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

extern "C" void cmsis_nn_delegate_copy_rows(const std::int8_t* in, std::int8_t* out,
                                            const payload::CopyAxis* rows,
                                            const payload::CopyAxis* row);

namespace {

struct MveCopies {
  static void copy_rows(const std::int8_t* in, std::int8_t* out, const payload::CopyAxis& rows,
                        const payload::CopyAxis& row) {
    cmsis_nn_delegate_copy_rows(in, out, &rows, &row);
  }
};

}  // namespace

Error run_strided_copy_vectors(const void* args, const Bases& bases) {
  return portable::compute_strided_copy_vectors<MveOr<MveCopies, portable::PlainCopies>>(args,
                                                                                         bases);
}

constexpr KernelOf<payload::Opcode::kStridedCopyVectors> kStridedCopyVectors =
    portable::strided_copy_vectors_kernel(run_strided_copy_vectors);

}  // namespace cmsis_nn_delegate::tuned
