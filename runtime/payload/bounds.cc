#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate {
namespace bounds {

bool reference_fits(const PayloadView& view, payload::Ref ref, std::uint32_t bytes,
                    std::uint32_t alignment, Access access) {
  const payload::Header& header = view.header();
  const std::uint32_t base = ref >> payload::kRefOffsetBits;
  const std::uint32_t offset = ref & payload::kMaxRefOffset;

  std::uint32_t begin = 0;
  std::uint32_t size = header.arena_bytes;
  std::uint32_t base_alignment = payload::kAlignment;
  bool writable = true;
  if (base == payload::kBaseConstant) {
    begin = header.constants_offset;
    size = header.constants_bytes;
    writable = false;
  } else if (base >= payload::kBaseIo) {
    const std::uint32_t index = base - payload::kBaseIo;
    if (index >= view.tensor_count()) {  // kBaseNone too
      return false;
    }
    const payload::IoTensor& tensor = view.tensors()[index];
    size = tensor.nbytes;
    // The caller's memory: execute() checks the alignment of floats and of nothing else.
    base_alignment =
        tensor.dtype == static_cast<std::uint8_t>(payload::DType::kFloat32) ? alignof(float) : 1;
    writable = index >= header.input_count;
  }
  // An offset before `begin` wraps to one beyond `size`.
  return (writable || access == Access::kRead) && bytes != 0 && alignment <= base_alignment &&
         offset % alignment == 0 && offset - begin <= size && bytes <= size - (offset - begin);
}

}  // namespace bounds
}  // namespace cmsis_nn_delegate
