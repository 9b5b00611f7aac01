#include "runtime/kernels/embedding/embedding.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_embedding_float32(const void* args, const Bases& bases) {
  return copy_rows<std::int64_t, float>(*static_cast<const payload::EmbeddingFloat32Args*>(args),
                                        bases);
}

constexpr KernelOf<payload::Opcode::kEmbeddingFloat32> kEmbeddingFloat32 =
    Kernel(operators::kEmbeddingFloat32, run_embedding_float32);

}  // namespace cmsis_nn_delegate::portable
