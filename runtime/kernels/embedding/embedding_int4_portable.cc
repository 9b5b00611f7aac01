#include "runtime/kernels/embedding/embedding.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_embedding_int4(const void* args, const Bases& bases) {
  return requantize_rows<std::int64_t>(*static_cast<const payload::EmbeddingInt4Args*>(args),
                                       bases);
}

constexpr KernelOf<payload::Opcode::kEmbeddingInt4> kEmbeddingInt4 =
    Kernel(operators::kEmbeddingInt4, run_embedding_int4);

}  // namespace cmsis_nn_delegate::portable
