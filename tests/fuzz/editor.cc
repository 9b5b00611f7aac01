#include "tests/fuzz/editor.h"

#include <cstring>

#include "runtime/payload/operator_fields.h"

namespace cmsis_nn_delegate {
namespace fuzz {
namespace {

using payload::CallHeader;
using payload::Header;
using payload::IoTensor;

constexpr std::uint32_t kMaxCallBytes = 256;

std::uint32_t aligned(std::uint32_t bytes) { return (bytes + 15) / 16 * 16; }

unsigned base_of(payload::Ref ref) { return ref >> payload::kRefOffsetBits; }

}  // namespace

bool Editor::parse() {
  if (size_ < sizeof(Header) || size_ % 16 != 0) {
    return false;
  }
  const Header& h = header();
  const auto size = static_cast<std::uint32_t>(size_);
  const auto outside = [size](std::uint32_t offset, std::uint32_t bytes) {
    return offset % 16 != 0 || offset > size || bytes > size - offset;
  };
  const auto tensors_bytes = static_cast<std::uint32_t>(tensor_count() * sizeof(IoTensor) +
                                                        region_count() * sizeof(std::uint32_t));
  if (tensor_count() + region_count() > payload::kMaxIo || outside(h.calls_offset, h.calls_bytes) ||
      outside(h.constants_offset, h.constants_bytes) ||
      h.calls_offset < sizeof(Header) + tensors_bytes || h.copied_bytes > h.constants_bytes ||
      h.constants_offset < h.calls_offset + h.calls_bytes) {
    return false;
  }
  find_calls();
  return call_count_ != 0;
}

void Editor::find_calls() {
  call_count_ = 0;
  std::uint32_t offset = header().calls_offset;
  const std::uint32_t end = offset + header().calls_bytes;
  while (end - offset >= sizeof(CallHeader)) {
    const CallHeader& call = at<CallHeader>(offset);
    if (call.opcode >= payload::kOpcodeCount || kOperatorFields[call.opcode].bytes == 0 ||
        call.bytes != sizeof(CallHeader) + kOperatorFields[call.opcode].bytes ||
        call.bytes > end - offset || call_count_ == kMaxCalls) {
      call_count_ = 0;
      return;
    }
    calls_[call_count_++] = offset;
    offset += call.bytes;
  }
  if (offset != end) {  // a call goes after the last one, aligned
    call_count_ = 0;
  }
}

std::uint32_t Editor::region_bytes(unsigned base) {
  if (base == payload::kBaseArena) {
    return header().arena_bytes;
  }
  if (base == payload::kBaseConstant) {
    return header().constants_bytes;
  }
  const unsigned index = base - payload::kBaseIo;
  if (index < tensor_count()) {
    return tensors()[index].nbytes;
  }
  if (copies() && base == copies_base()) {
    return header().copied_bytes;
  }
  const unsigned region = base - region_base();
  return region < region_count() ? region_sizes()[region] : 0;
}

payload::Ref Editor::reference(unsigned base, std::uint32_t offset) {
  if (base == payload::kBaseConstant) {
    offset += header().constants_offset;
  }
  return static_cast<payload::Ref>(base) << payload::kRefOffsetBits |
         (offset & payload::kMaxRefOffset);
}

bool Editor::grow_constants(std::uint32_t bytes, Random& random) {
  Header& h = header();
  bytes = aligned(bytes);
  if (h.constants_offset + h.constants_bytes != size_ || size_ + bytes > capacity_) {
    return false;
  }
  for (std::uint32_t i = 0; i < bytes; i += 4) {
    at<std::uint32_t>(size_ + i) = random.next();
  }
  size_ += bytes;
  h.constants_bytes += bytes;
  return true;
}

bool Editor::insert(const std::uint8_t* call, std::uint32_t bytes, unsigned to) {
  Header& h = header();
  const std::uint32_t end = h.calls_offset + h.calls_bytes;
  if (call_count_ == kMaxCalls || bytes > kMaxCallBytes) {
    return false;
  }
  std::uint8_t copy[kMaxCallBytes];  // `call` may move
  std::memcpy(copy, call, bytes);
  if (h.constants_offset - end < bytes) {
    const std::uint32_t shift = aligned(bytes);
    if (size_ + shift > capacity_) {
      return false;
    }
    std::memmove(data_ + h.constants_offset + shift, data_ + h.constants_offset,
                 size_ - h.constants_offset);
    h.constants_offset += shift;
    size_ += shift;
    for (unsigned i = 0; i < call_count_; ++i) {
      for (const Operand& operand : operands_of(opcode(i), args(i))) {
        std::uint32_t& ref = word(i, operand.field);
        if (base_of(ref) == payload::kBaseConstant) {
          ref += shift;
        }
      }
    }
  }
  const std::uint32_t place = to < call_count_ ? calls_[to] : end;
  std::memmove(data_ + place + bytes, data_ + place, end - place);
  std::memcpy(data_ + place, copy, bytes);
  h.calls_bytes += bytes;
  ++h.call_count;
  find_calls();
  return true;
}

bool Editor::copy_call(unsigned from, unsigned to) {
  return insert(data_ + calls_[from], at<CallHeader>(calls_[from]).bytes, to);
}

bool Editor::take_call(Editor& other, unsigned from, unsigned to) {
  return insert(other.data_ + other.calls_[from], other.at<CallHeader>(other.calls_[from]).bytes,
                to);
}

void Editor::remove_call(unsigned call) {
  Header& h = header();
  const std::uint32_t bytes = at<CallHeader>(calls_[call]).bytes;
  const std::uint32_t end = h.calls_offset + h.calls_bytes;
  std::memmove(data_ + calls_[call], data_ + calls_[call] + bytes, end - calls_[call] - bytes);
  std::memset(data_ + end - bytes, 0, bytes);
  h.calls_bytes -= bytes;
  --h.call_count;
  find_calls();
}

void Editor::swap_calls(unsigned a, unsigned b) {
  if (a > b) {
    const unsigned c = a;
    a = b;
    b = c;
  }
  // Insert `b` before `a`, then remove the old `b`.
  if (a != b && copy_call(b, a)) {
    remove_call(b + 1);
  }
}

std::uint32_t Editor::used(unsigned base) {
  std::uint32_t end = 0;
  for (unsigned i = 0; i < call_count_; ++i) {
    for (const Operand& operand : operands_of(opcode(i), args(i))) {
      const payload::Ref ref = word(i, operand.field);
      const std::uint32_t offset = ref & payload::kMaxRefOffset;
      if (base_of(ref) == base && offset + operand.bytes > end) {
        end = offset + operand.bytes;
      }
    }
  }
  return end;
}

void Editor::fit_arena() {
  std::uint32_t end = used(payload::kBaseArena);
  for (unsigned i = 0; i < tensor_count(); ++i) {
    const IoTensor& tensor = tensors()[i];
    if (tensor.arena_offset != payload::kNoArenaOffset &&
        tensor.arena_offset + tensor.nbytes > end) {
      end = tensor.arena_offset + tensor.nbytes;
    }
  }
  if (end <= header().arena_bytes) {
    header().arena_bytes = aligned(end);
  }
}

void Editor::fit_region(unsigned index) {
  const std::uint32_t end = aligned(used(region_base() + index));
  if (end <= region_sizes()[index]) {
    region_sizes()[index] = end;
  }
}

void Editor::fit_constants() {
  Header& h = header();
  std::uint32_t end = aligned(used(payload::kBaseConstant));
  if (end < h.constants_offset + h.copied_bytes) {
    end = aligned(h.constants_offset + h.copied_bytes);
  }
  if (end > h.constants_offset && end <= h.constants_offset + h.constants_bytes) {
    h.constants_bytes = end - h.constants_offset;
    size_ = end;
  }
}

void Editor::fit_copies() {
  const std::uint32_t end = aligned(used(copies_base()));
  if (end <= header().copied_bytes) {
    header().copied_bytes = end;
  }
}

void Editor::fit_tensor(unsigned index) {
  IoTensor& tensor = tensors()[index];
  const std::uint32_t bytes = used(payload::kBaseIo + index);
  const std::uint32_t element = element_bytes(tensor);
  if (bytes == 0 || bytes % element != 0) {
    return;
  }
  tensor.nbytes = bytes;
  tensor.rank = 1;
  std::memset(tensor.sizes, 0, sizeof(tensor.sizes));
  std::memset(tensor.dim_order, 0, sizeof(tensor.dim_order));
  tensor.sizes[0] = static_cast<std::int32_t>(bytes / element);
}

}  // namespace fuzz
}  // namespace cmsis_nn_delegate
