#include "tests/fuzz/editor.h"

#include <cstring>

#ifdef __linux__
#include <cstdio>
#include <cstdlib>
#endif

#include "tests/payloads/operator_fields.h"

namespace cmsis_nn_delegate::fuzz {
namespace {

using payload::CallHeader;
using payload::Header;
using payload::IoTensor;

constexpr std::uint32_t kMaxCallBytes = 256;

std::uint32_t aligned(std::uint32_t bytes) { return (bytes + 15) / 16 * 16; }

unsigned base_of(payload::Ref ref) { return ref >> payload::kRefOffsetBits; }

}  // namespace

void expect(bool holds, [[maybe_unused]] const char* what) {
  if (holds) {
    return;
  }
#ifdef __linux__
  std::fprintf(stderr, "ERROR OF THE MUTATOR: %s\n", what);
  std::abort();
#else
  __builtin_trap();
#endif
}

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
  // One base each: region_base() + region_count() is at most kBaseNone.
  if (region_base() - payload::kBaseIo + region_count() > payload::kMaxIo ||
      outside(h.calls_offset, h.calls_bytes) || outside(h.constants_offset, h.constants_bytes) ||
      h.header_bytes < sizeof(Header) || h.header_bytes % 4 != 0 ||
      h.calls_offset < h.header_bytes + tensors_bytes || h.copied_bytes > h.constants_bytes ||
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
  const unsigned index = base - payload::kBaseIo;  // bases are numbered in this order
  if (index < tensor_count()) {
    return tensor(index).nbytes;
  }
  if (copies() && base == copies_base()) {
    return header().copied_bytes;
  }
  const bool is_region = base >= region_base() && base - region_base() < region_count();
  return is_region ? region_size(base - region_base()) : 0;
}

std::int32_t* Editor::constants(payload::Ref ref, std::uint32_t bytes) {
  const Header& h = header();
  const std::uint32_t offset = ref & payload::kMaxRefOffset;
  std::uint32_t begin = 0;
  std::uint32_t end = h.constants_offset;
  if (copies() && base_of(ref) == copies_base()) {  // values of copies are those of the payload
    begin = h.constants_offset;
    end += h.copied_bytes;
  } else if (base_of(ref) == payload::kBaseConstant && offset >= h.constants_offset) {
    end += h.constants_bytes;
  } else {
    return nullptr;
  }
  if (ref % sizeof(std::int32_t) != 0 || offset > end - begin || bytes > end - begin - offset) {
    return nullptr;
  }
  expect(end <= size_, "constants reach past the end");
  return reinterpret_cast<std::int32_t*>(data_ + begin + offset);
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
  const std::size_t begin = size_;
  resize(size_ + bytes);
  for (std::uint32_t i = 0; i < bytes; i += 4) {
    at<std::uint32_t>(begin + i) = random.next();
  }
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
  return insert(data_ + calls_[from], call_header(from).bytes, to);
}

bool Editor::take_call(Editor& other, unsigned from, unsigned to) {
  return insert(other.data_ + other.calls_[from], other.call_header(from).bytes, to);
}

void Editor::remove_call(unsigned call) {
  Header& h = header();
  const std::uint32_t bytes = call_header(call).bytes;
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
    const IoTensor& io = tensor(i);
    if (io.arena_offset != payload::kNoArenaOffset && io.arena_offset + io.nbytes > end) {
      end = io.arena_offset + io.nbytes;
    }
  }
  if (end <= header().arena_bytes) {
    header().arena_bytes = aligned(end);
  }
}

void Editor::fit_region(unsigned index) {
  const std::uint32_t end = aligned(used(region_base() + index));
  if (end <= region_size(index)) {
    region_size(index) = end;
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
    resize(end);
  }
}

void Editor::fit_copies() {
  const std::uint32_t end = aligned(used(copies_base()));
  if (end <= header().copied_bytes) {
    header().copied_bytes = end;
  }
}

void Editor::fit_tensor(unsigned index) {
  IoTensor& io = tensor(index);
  const std::uint32_t bytes = used(payload::kBaseIo + index);
  const std::uint32_t element = element_bytes(io);
  if (bytes == 0 || bytes % element != 0) {
    return;
  }
  io.nbytes = bytes;
  io.rank = 1;
  std::memset(io.sizes, 0, sizeof(io.sizes));
  std::memset(io.dim_order, 0, sizeof(io.dim_order));
  io.sizes[0] = static_cast<std::int32_t>(bytes / element);
}

}  // namespace cmsis_nn_delegate::fuzz
