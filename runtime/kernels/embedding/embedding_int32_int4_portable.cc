#include "runtime/kernels/embedding/embedding.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_embedding_int32_int4(const void* args, const Bases& bases) {
  return requantize_rows<std::int32_t>(*static_cast<const payload::EmbeddingInt32Int4Args*>(args),
                                       bases);
}

constexpr KernelOf<payload::Opcode::kEmbeddingInt32Int4> kEmbeddingInt32Int4 =
    Kernel(operators::kEmbeddingInt32Int4, run_embedding_int32_int4);

}  // namespace cmsis_nn_delegate::portable
