#include "tests/fuzz/mutate.h"

#include <cstring>

#include "runtime/payload/crc32.h"
#include "tests/fuzz/editor.h"
#include "tests/fuzz/operands.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/redraw.h"

namespace cmsis_nn_delegate::fuzz {
namespace {

using payload::Header;
using payload::IoTensor;
using payload::Opcode;

constexpr std::uint32_t kInteresting[] = {
    0,          1,          2,          3,          4,          7,          8,
    15,         16,         17,         31,         32,         127,        128,
    255,        256,        496,        512,        32766,      32767,      32768,
    65535,      65536,      0x0FFFFFFF, 0x10000000, 0x40000000, 0x7FFFFFFF, 0x80000000,
    0xFFFFFF80, 0xFFFFFFF0, 0xFFFFFFFE, 0xFFFFFFFF, 0xF0000000};
constexpr std::uint32_t kFloats[] = {0,          0x80000000, 0x3F800000, 0xBF800000, 0x7F800000,
                                     0xFF800000, 0x7FC00000, 0x00000001, 0x7F7FFFFF, 0x4F000000};
constexpr std::uint32_t kMaxArena = 1 << 14;
constexpr std::uint32_t kMaxTensor = 1 << 14;

class Mutator {
 public:
  Mutator(Editor& editor, Random& random, const KernelTable& kernels)
      : editor_(editor), random_(random), kernels_(kernels) {}

  /// Inserts a call of `donor` somewhere, with its operands in this payload's memory.
  void take_call(Editor& donor) {
    const unsigned to = random_.below(editor_.call_count() + 1);
    if (editor_.take_call(donor, random_.below(donor.call_count()), to)) {
      place_all(to);
    }
  }

  void step(Editor* donor) {
    const unsigned call = random_.below(editor_.call_count());
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
        return change_field(call);
      case 3:
      case 4:
        if (Operand operand; any_operand(call, operand)) {
          place(call, operand);
        }
        return;
      case 5:
      case 6:
      case 7:
      case 8:
        return redraw_call(call);
      case 9:
        return tighten();
      case 10:
        return change_tensor();
      case 11:
        return change_calls(call, donor);
      case 12:
        return change_constants();
      case 13:
        return fit_scratch(call);
      case 14:
        return change_header();
      default:
        place_at_end(call);
    }
  }

 private:
  std::uint32_t changed(std::uint32_t value) {
    switch (random_.below(6)) {
      case 0:
        return random_.pick(kInteresting);
      case 1:
        return value << 1;
      case 2:
        return value >> 1;
      case 3:
        return 0u - value;
      default:
        return value + static_cast<std::uint32_t>(random_.in(-9, 9));
    }
  }

  void change_field(unsigned call) {
    const OperatorFields& fields = fields_of(call);
    if (fields.count == 0) {
      return;
    }
    const OperatorField& field = fields.fields[random_.below(fields.count)];
    void* const args = editor_.args(call);
    const auto value = static_cast<std::uint32_t>(field.at.get(args));
    const auto set = [&](std::uint32_t word) {
      field.at.set(args, static_cast<std::int32_t>(word));
    };
    if (random_.one_in(5)) {  // the value of a neighbouring field of the same kind in any call
      const unsigned other = random_.below(editor_.call_count());
      const OperatorFields& others = fields_of(other);
      if (others.count == 0) {
        return;
      }
      const OperatorField& source = others.fields[random_.below(others.count)];
      if (source.kind == field.kind || (source.is_reference() && field.is_reference())) {
        set(static_cast<std::uint32_t>(source.at.get(editor_.args(other))));
      }
    } else if (field.kind == FieldKind::kFloat) {
      set(random_.pick(kFloats));
    } else if (field.is_reference() && random_.one_in(2)) {
      set(editor_.reference(any_base(), random_.below(64) * (random_.one_in(2) ? 1 : 16)));
    } else {
      set(changed(value));
    }
    if (field.kind == FieldKind::kInteger && random_.one_in(2)) {
      fit_scratch(call);
    }
  }

  /// Without fields if random constants, which may lie anywhere in the payload, have made the call one
  /// of no operator.
  const OperatorFields& fields_of(unsigned call) {
    const std::uint16_t opcode = editor_.opcode(call);
    return kOperatorFields[opcode < payload::kOpcodeCount ? opcode : 0];
  }

  unsigned any_base() {
    if (editor_.copies() && random_.one_in(8)) {
      return editor_.copies_base();
    }
    const unsigned tensors_end = payload::kBaseIo + editor_.tensor_count();
    const unsigned base = random_.below(tensors_end + editor_.region_count() + 1);
    if (base < tensors_end) {
      return base;
    }
    return base == tensors_end + editor_.region_count()
               ? payload::kBaseNone
               : editor_.region_base() + (base - tensors_end);
  }

  unsigned any_region() { return editor_.region_base() + random_.below(editor_.region_count()); }

  /// Whether something that a call reads or writes goes into a region beside the arena, if there is one.
  bool takes_region() { return editor_.region_count() != 0 && random_.one_in(2); }

  /// Makes a region as large as `bytes`, rounded up.
  void set_region_bytes(unsigned base, std::uint32_t bytes) {
    editor_.region_size(base - editor_.region_base()) = (bytes + 15) / 16 * 16;
  }

  /// Returns false for a call of no operator.
  bool any_operand(unsigned call, Operand& operand) {
    const Operands operands = operands_of(editor_.opcode(call), editor_.args(call));
    if (operands.count == 0) {
      return false;
    }
    operand = operands.operands[random_.below(operands.count)];
    return true;
  }

  /// Makes `operand` refer to a place that has room for it, often the last such place. The region
  /// grows if that is necessary and possible. Returns false if there is no place.
  bool place(unsigned call, const Operand& operand) {
    unsigned base = payload::kBaseArena;
    if (operand.is_constant()) {
      base = editor_.copies() && random_.one_in(2) ? editor_.copies_base()
                                                   : unsigned{payload::kBaseConstant};
    } else if (operand.kind == FieldKind::kInput && random_.one_in(3)) {
      base = random_.one_in(8) || editor_.tensor_count() == 0
                 ? payload::kBaseConstant
                 : payload::kBaseIo + random_.below(editor_.tensor_count());
    } else if (operand.kind == FieldKind::kOutput && random_.one_in(3) &&
               editor_.header().output_count != 0) {
      base = payload::kBaseIo + editor_.header().input_count +
             random_.below(editor_.header().output_count);
    } else if (takes_region()) {
      base = any_region();
    }
    if (operand.kind == FieldKind::kScratch && operand.bytes == 0) {
      editor_.word(call, operand.field) = payload::kNoRef;
      return true;
    }
    if (!make_room(base, operand)) {
      return false;
    }
    const std::uint32_t room = editor_.region_bytes(base) - operand.bytes;
    std::uint32_t offset = room;
    switch (operand.kind == FieldKind::kOutput ? random_.below(12) : random_.below(6)) {
      case 0:
        offset = random_.below(room + 1);
        break;
      case 1:  // before the end, as far as a kernel may read past it
        offset = room - (room < 64 ? 0 : 4 * random_.below(17));
        break;
      case 2:
        offset = 0;
        break;
      default:
        break;
    }
    // Rarely, use a wrong alignment, which must be refused.
    const std::uint32_t alignment = random_.one_in(64) ? 1 : operand.alignment;
    editor_.word(call, operand.field) = editor_.reference(base, offset / alignment * alignment);
    fill(operand, editor_.word(call, operand.field));
    return true;
  }

  bool make_room(unsigned base, const Operand& operand) {
    const std::uint32_t bytes = operand.bytes;
    const std::uint32_t there = editor_.region_bytes(base);
    if (bytes == 0) {
      return false;
    }
    // Often unchanged, so that operands share memory; but an output that overlaps the call's inputs is refused.
    const bool grow = there < bytes || random_.one_in(6) ||
                      (operand.kind == FieldKind::kOutput && !random_.one_in(3));
    if (base == payload::kBaseArena) {
      if (grow && there + bytes + 32 <= kMaxArena) {
        editor_.header().arena_bytes = (there + bytes + 15) / 16 * 16;
      }
    } else if (base == payload::kBaseConstant) {
      if (grow) {
        editor_.grow_constants(bytes, random_);
      }
    } else if (editor_.copies() && base == editor_.copies_base()) {
      Header& h = editor_.header();
      const std::uint32_t needed = (bytes + 15) / 16 * 16;
      if (there < needed && (needed <= h.constants_bytes ||
                             editor_.grow_constants(needed - h.constants_bytes, random_))) {
        h.copied_bytes = needed;  // of the first constants
      }
    } else if (bytes <= kMaxTensor && (there < bytes || random_.one_in(2))) {
      if (base < payload::kBaseIo + editor_.tensor_count()) {
        set_tensor_bytes(base - payload::kBaseIo, bytes);
      } else {
        set_region_bytes(base, bytes);
      }
    }
    return editor_.region_bytes(base) >= bytes;
  }

  void set_tensor_bytes(unsigned index, std::uint32_t bytes) {
    IoTensor& tensor = editor_.tensor(index);
    const std::uint32_t element = element_bytes(tensor);
    const std::uint32_t count = (bytes + element - 1) / element;
    tensor.nbytes = count * element;
    tensor.rank = 1;
    std::memset(tensor.sizes, 0, sizeof(tensor.sizes));
    std::memset(tensor.dim_order, 0, sizeof(tensor.dim_order));
    tensor.sizes[0] = static_cast<std::int32_t>(count);
    if (tensor.arena_offset != payload::kNoArenaOffset) {
      tensor.arena_offset = payload::kNoArenaOffset;
    }
  }

  /// Mostly multipliers and shifts that a compiler would write.
  void fill(const Operand& operand, payload::Ref ref) {
    if (operand.kind != FieldKind::kMultiplier && operand.kind != FieldKind::kShift) {
      return;
    }
    std::int32_t* const words = editor_.constants(ref, operand.bytes);
    if (words == nullptr || random_.one_in(16)) {
      return;
    }
    const bool wide = random_.one_in(4);
    for (std::uint32_t i = 0; i < operand.bytes / 4; ++i) {
      words[i] = operand.kind == FieldKind::kMultiplier
                     ? (1 << 30) + static_cast<std::int32_t>(random_.below(1u << 30))
                     : (wide ? random_.in(-31, 30) : random_.in(-10, 0));
    }
  }

  void place_all(unsigned call) {
    const Operands operands = operands_of(editor_.opcode(call), editor_.args(call));
    const unsigned first = random_.below(operands.count);  // so that a different one comes last
    for (unsigned i = 0; i < operands.count; ++i) {
      const Operand& operand = operands.operands[(first + i) % operands.count];
      if (operand.kind != FieldKind::kScratch) {
        place(call, operand);
      }
    }
    fit_scratch(call);
  }

  void redraw_call(unsigned call) {
    redraw(editor_.opcode(call), editor_.args(call), random_);
    place_all(call);
    if (random_.one_in(3)) {
      tighten();
    }
    if (random_.one_in(3)) {
      place_at_end(call);
    }
  }

  /// Moves an operand to the end of its region.
  void place_at_end(unsigned call) {
    Operand operand;
    if (!any_operand(call, operand)) {
      return;
    }
    const unsigned base = editor_.word(call, operand.field) >> payload::kRefOffsetBits;
    const std::uint32_t there = editor_.region_bytes(base);
    if (operand.bytes == 0 || there < operand.bytes) {
      return;
    }
    editor_.word(call, operand.field) =
        editor_.reference(base, (there - operand.bytes) / operand.alignment * operand.alignment);
    fill(operand, editor_.word(call, operand.field));
  }

  void tighten() {
    if (random_.one_in(2)) {
      editor_.fit_arena();
    }
    if (editor_.copies() && random_.one_in(2)) {
      editor_.fit_copies();
    }
    if (random_.one_in(2)) {
      editor_.fit_constants();
    }
    if (random_.one_in(2) && editor_.tensor_count() != 0) {
      editor_.fit_tensor(random_.below(editor_.tensor_count()));
    }
    if (takes_region()) {
      editor_.fit_region(any_region() - editor_.region_base());
    }
  }

  /// Gives a call the scratch memory that its kernel needs, at the end of the arena or of a region; sometimes one byte
  /// less.
  void fit_scratch(unsigned call) {
    const std::uint16_t opcode = editor_.opcode(call);
    std::int32_t* bytes = nullptr;
    payload::Ref* ref = nullptr;
    bool computable = true;
    const auto use = [&](auto& a) {
      bytes = &a.scratch_bytes;
      ref = &a.scratch;
      // Factor by factor: the product of three dimensions may exceed 64 bits.
      const auto small = [](const auto& d) {
        constexpr std::int64_t kMaxElements = 1 << 20;
        return d.n > 0 && d.h > 0 && d.w > 0 && d.c > 0 && d.n <= payload::kMaxDim &&
               d.h < kMaxElements && d.w < kMaxElements / d.h &&
               d.c < kMaxElements / (static_cast<std::int64_t>(d.h) * d.w);
      };
      computable = small(a.input_dims) && small(a.filter_dims) && small(a.output_dims) &&
                   a.params.stride.h > 0 && a.params.stride.w > 0;
    };
    switch (static_cast<Opcode>(opcode)) {
      case Opcode::kConv2d: {
        auto& a = editor_.args_as<payload::Conv2dArgs>(call);
        use(a);
        computable = computable && a.filter_dims.c <= a.input_dims.c;
        break;
      }
      case Opcode::kDepthwiseConv2d:
        use(editor_.args_as<payload::DepthwiseConv2dArgs>(call));
        break;
      case Opcode::kAvgPool2d:
        use(editor_.args_as<payload::AvgPool2dArgs>(call));
        break;
      default:
        return;
    }
    const Kernel* const kernel = kernels_.find(opcode);
    if (!computable || kernel == nullptr) {
      return;
    }
    std::uint32_t needed =
        kernel->scratch_bytes == nullptr ? 0 : kernel->scratch_bytes(editor_.args(call));
    if (needed > kMaxArena) {
      return;
    }
    if (random_.one_in(16)) {
      needed += random_.one_in(2) ? 1 : 0xFFFFFFFF;
    }
    *bytes = static_cast<std::int32_t>(needed);
    if (needed == 0 || needed > kMaxArena) {
      *ref = payload::kNoRef;
      return;
    }
    if (takes_region()) {
      const unsigned base = any_region();
      if (editor_.region_bytes(base) < needed) {
        set_region_bytes(base, needed);
      }
      *ref = editor_.reference(base, (editor_.region_bytes(base) - needed) / 16 * 16);
      return;
    }
    Header& h = editor_.header();
    // After everything, where there is no other operand; else wherever there is room.
    if (h.arena_bytes < needed || (random_.one_in(2) && h.arena_bytes + needed <= kMaxArena)) {
      h.arena_bytes = (h.arena_bytes / 16 * 16 + needed + 15) / 16 * 16;
    }
    *ref = editor_.reference(payload::kBaseArena, (h.arena_bytes - needed) / 16 * 16);
  }

  void change_tensor() {
    if (editor_.tensor_count() == 0) {
      return;
    }
    const unsigned index = random_.below(editor_.tensor_count());
    IoTensor& tensor = editor_.tensor(index);
    switch (random_.below(6)) {
      case 0:
        editor_.fit_tensor(index);
        break;
      case 1:
        set_tensor_bytes(index, 1 + random_.below(600));
        break;
      case 2: {  // several dimensions in some order
        const std::uint32_t element = element_bytes(tensor);
        const unsigned rank = random_.below(payload::kMaxRank + 1);
        std::uint32_t bytes = element;
        for (unsigned i = 0; i < payload::kMaxRank; ++i) {
          tensor.sizes[i] = i < rank ? random_.in(1, 6) : 0;
          tensor.dim_order[i] =
              static_cast<std::uint8_t>(i < rank ? (random_.one_in(8) ? random_.below(8) : i) : 0);
          bytes *= i < rank ? static_cast<std::uint32_t>(tensor.sizes[i]) : 1;
        }
        tensor.rank = static_cast<std::uint8_t>(rank);
        tensor.nbytes = bytes;
        break;
      }
      case 3:
        tensor.arena_offset = random_.one_in(3)
                                  ? payload::kNoArenaOffset
                                  : 16 * random_.below(editor_.header().arena_bytes / 16 + 2);
        break;
      case 4: {
        constexpr payload::DType kTypes[] = {payload::DType::kInt8, payload::DType::kFloat32,
                                             payload::DType::kInt32, payload::DType::kInt64};
        const auto type = static_cast<std::uint8_t>(random_.pick(kTypes));
        if (type == tensor.dtype) {
          break;
        }
        tensor.dtype = type;
        set_tensor_bytes(index, tensor.nbytes);
        break;
      }
      default: {
        auto* words = reinterpret_cast<std::uint32_t*>(&tensor);
        std::uint32_t& word = words[random_.below(sizeof(IoTensor) / 4)];
        word = changed(word);
      }
    }
  }

  void change_calls(unsigned call, Editor* donor) {
    const unsigned other = random_.below(editor_.call_count() + 1);
    switch (random_.below(4)) {
      case 0:
        if (editor_.call_count() > 1) {
          editor_.remove_call(call);
        }
        break;
      case 1:
        if (other < editor_.call_count()) {
          editor_.swap_calls(call, other);
        }
        break;
      case 2:
        if (donor != nullptr) {
          return take_call(*donor);
        }
        [[fallthrough]];
      default:
        editor_.copy_call(call, other);
    }
  }

  void change_constants() {
    Header& h = editor_.header();
    if (h.constants_bytes < 4) {
      return;
    }
    const payload::Ref first = editor_.reference(payload::kBaseConstant, 0);
    std::int32_t* const words = editor_.constants(first, h.constants_bytes);
    for (std::uint32_t left = 1 + random_.below(8); words != nullptr && left != 0; --left) {
      std::int32_t& word = words[random_.below(h.constants_bytes / 4)];
      word = static_cast<std::int32_t>(
          random_.one_in(2) ? random_.next() : changed(static_cast<std::uint32_t>(word)));
    }
  }

  void change_header() {
    Header& h = editor_.header();
    switch (random_.below(8)) {
      case 0:
        h.arena_bytes = 16 * random_.below(kMaxArena / 16);
        break;
      case 1:
        h.input_count = static_cast<std::uint8_t>(random_.below(payload::kMaxIo + 2));
        break;
      case 2:
        h.output_count = static_cast<std::uint8_t>(random_.below(payload::kMaxIo + 2));
        break;
      case 3:
        editor_.resize(editor_.size() - 16 * random_.below(4));
        break;
      case 4:
        editor_.resize(editor_.size() - random_.below(static_cast<std::uint32_t>(editor_.size())));
        break;
      case 5:
        h.constants_bytes -= 16 * random_.below(4);
        break;
      default: {
        auto* words = reinterpret_cast<std::uint32_t*>(&h);
        std::uint32_t& word = words[random_.below(sizeof(Header) / 4)];
        word = changed(word);
      }
    }
  }

  Editor& editor_;
  Random& random_;
  const KernelTable& kernels_;
};

/// Leaves as many regions as there is room for their sizes before the calls, and makes these small multiples of 16.
void repair_regions(std::uint8_t* data, std::size_t size) {
  Header& h = *reinterpret_cast<Header*>(data);
  const std::uint64_t begin =
      h.header_bytes + sizeof(IoTensor) * (std::uint64_t{h.input_count} + h.output_count);
  const std::uint64_t end = h.calls_offset < size ? h.calls_offset : size;
  const std::uint64_t most =
      begin % sizeof(std::uint32_t) != 0 || begin > end ? 0 : (end - begin) / sizeof(std::uint32_t);
  if (h.region_count > most) {
    h.region_count = static_cast<std::uint8_t>(most);
  }
  for (unsigned i = 0; i < h.region_count; ++i) {
    *reinterpret_cast<std::uint32_t*>(data + begin + i * sizeof(std::uint32_t)) &= kMaxArena - 16;
  }
}

/// Lets the header name as many providers that `provider` knows as it has revisions, if it can: those that it names or
/// the first ones.
void repair_revisions(std::uint8_t* data, std::size_t size, const Provider& provider) {
  Header& h = *reinterpret_cast<Header*>(data);
  unsigned known = 0;
  for (unsigned i = 0; i < payload::kMaxProviders; ++i) {
    known |= provider.revision_of(i) != 0 ? 1u << i : 0;
  }
  const unsigned room = h.header_bytes > sizeof(Header)
                            ? (h.header_bytes - static_cast<unsigned>(sizeof(Header))) / 4
                            : 0;
  unsigned named = 0;
  unsigned count = 0;
  for (const unsigned wanted : {h.providers & known, known}) {
    for (unsigned i = 0; i < payload::kMaxProviders && count < room; ++i) {
      if (((wanted & ~named) >> i & 1) != 0) {
        named |= 1u << i;
        ++count;
      }
    }
  }
  h.providers = static_cast<std::uint8_t>(named);
  h.header_bytes = static_cast<std::uint16_t>(sizeof(Header) + 4 * count);
  std::size_t at = sizeof(Header);
  for (unsigned i = 0; i < payload::kMaxProviders; ++i) {
    if ((named >> i & 1) != 0 && at + sizeof(std::uint32_t) <= size) {
      *reinterpret_cast<std::uint32_t*>(data + at) = provider.revision_of(i);
      at += sizeof(std::uint32_t);
    }
  }
}

}  // namespace

void repair(std::uint8_t* data, std::size_t size, const KernelTable& kernels) {
  Header& h = *reinterpret_cast<Header*>(data);
  h.magic = payload::kMagic;
  h.format_version = payload::kFormatVersion;
  const Provider& provider = *kernels.provider;
  if (h.isa >= 8 || ((provider.isas >> h.isa) & 1) == 0) {
    h.isa = 0;
    while (((provider.isas >> h.isa) & 1) == 0) {
      ++h.isa;
    }
  }
  h.persistent_bytes &= 0xFF0;
  h.copied_bytes &= 0xFF0;
  if (h.copied_bytes > h.constants_bytes) {
    h.copied_bytes = h.constants_bytes / 16 * 16;
  }
  repair_revisions(data, size, provider);
  repair_regions(data, size);
  h.payload_bytes = static_cast<std::uint32_t>(size / 16 * 16);
  h.crc32 = payload_crc32(data, h.payload_bytes);
}

std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t capacity, std::uint32_t seed,
                   const KernelTable& kernels, std::uint8_t* donor, std::size_t donor_size) {
  if (size < sizeof(Header)) {
    if (capacity < sizeof(Header)) {
      return size;
    }
    std::memset(data + size, 0, sizeof(Header) - size);
    size = sizeof(Header);
  }
  Random random(seed);
  Editor editor(data, size, capacity);
  Editor other(donor, donor_size, donor_size);
  const bool has_donor = donor != nullptr && other.parse();
  if (has_donor && editor.parse()) {
    Mutator(editor, random, kernels).take_call(other);
  }
  for (std::uint32_t steps = 1 + random.below(random.one_in(2) ? 2 : 6); steps != 0; --steps) {
    if (editor.size() < sizeof(Header) || !editor.parse()) {
      break;
    }
    Mutator(editor, random, kernels).step(has_donor ? &other : nullptr);
  }
  size = editor.size();
  if (size >= sizeof(Header) && !random.one_in(64)) {
    repair(data, size, kernels);
  }
  return size;
}

}  // namespace cmsis_nn_delegate::fuzz
