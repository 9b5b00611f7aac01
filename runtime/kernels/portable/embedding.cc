#include "runtime/kernels/portable/embedding.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

Error run_embedding(const void* args, const Bases& bases) {
  return embedding<std::int64_t>(*static_cast<const payload::EmbeddingArgs*>(args), bases);
}

}  // namespace

constexpr KernelOf<payload::Opcode::kEmbedding> kEmbedding =
    Kernel(operators::kEmbedding, run_embedding);

}  // namespace portable
}  // namespace cmsis_nn_delegate
