#include "runtime/kernels/portable/embedding.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

Error run_embedding_int32(const void* args, const Bases& bases) {
  return copy_rows<std::int32_t>(*static_cast<const payload::EmbeddingInt32Args*>(args), bases);
}

}  // namespace

constexpr KernelOf<payload::Opcode::kEmbeddingInt32> kEmbeddingInt32 =
    Kernel(operators::kEmbeddingInt32, run_embedding_int32);

Error embedding_int32(const payload::EmbeddingInt32Args& args, const Bases& bases) {
  return kEmbeddingInt32.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
