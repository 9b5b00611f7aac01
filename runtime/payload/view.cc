#include "runtime/payload/view.h"

#include <cinttypes>

#include <executorch/runtime/platform/log.h>

#include "runtime/payload/bounds.h"
#include "runtime/payload/validate.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;
using executorch::runtime::Result;
using payload::Header;
using payload::IoTensor;

Error malformed([[maybe_unused]] const char* what) {
  ET_LOG(Error, "malformed payload: %s", what);
  return Error::InvalidProgram;
}

/// Checks magic, version and instruction set, which say what the payload was made for.
Error check_identity(const Header& header, const KernelTable& kernels) {
  if (header.magic != payload::kMagic) {
    return malformed("wrong magic: not a payload of this backend");
  }
  if (header.format_version != payload::kFormatVersion) {
    ET_LOG(Error,
           "payload has format version %u, but this runtime reads %u: compile the model again",
           static_cast<unsigned>(header.format_version),
           static_cast<unsigned>(payload::kFormatVersion));
    return Error::DelegateInvalidCompatibility;
  }
  const Provider& provider = *kernels.provider;
  if (header.isa >= 8 || ((provider.isas >> header.isa) & 1) == 0) {
    ET_LOG(Error,
           "payload was compiled for instruction set %u (0 scalar, 1 DSP, 2 MVE), but the kernels "
           "\"%s\" accept only the set 0x%x: compile the model for this core",
           static_cast<unsigned>(header.isa), provider.name, static_cast<unsigned>(provider.isas));
    return Error::DelegateInvalidCompatibility;
  }
  return Error::Ok;
}

/// Checks that the sections are aligned, inside the payload and in order.
Error check_sections(const Header& header, std::size_t size) {
  const std::uint32_t bytes = header.payload_bytes;
  if (bytes > size) {
    ET_LOG(Error, "payload is truncated: there are %zu of its %" PRIu32 " bytes", size, bytes);
    return Error::InvalidProgram;
  }
  if (bytes > payload::kMaxRefOffset || header.persistent_bytes > payload::kMaxRefOffset) {
    return malformed("payload or persistent memory is larger than references can reach");
  }
  if ((bytes | header.arena_bytes | header.persistent_bytes | header.copied_bytes) %
          payload::kAlignment !=
      0) {
    return malformed(
        "payload, arena, persistent memory or copied constants have a size that is not a multiple "
        "of 16");
  }
  if (header.copied_bytes > header.constants_bytes) {
    return malformed("there are fewer constants than it copies");
  }
  const std::uint32_t tensor_count = std::uint32_t{header.input_count} + header.output_count;
  if (tensor_count + (header.persistent_bytes == 0 ? 0 : 1) + (header.copied_bytes == 0 ? 0 : 1) +
          header.region_count >
      payload::kMaxIo) {
    return malformed(
        "too many inputs and outputs, of which a state, copied constants and each region count as "
        "one");
  }
  // The sections follow one another.
  std::uint32_t end = header.header_bytes + tensor_count * sizeof(IoTensor) +
                      header.region_count * sizeof(std::uint32_t);
  const auto follows = [&end, bytes](std::uint32_t offset, std::uint32_t section_bytes) {
    const bool valid = offset >= end && bounds::section_fits(offset, section_bytes, bytes);
    end = offset + section_bytes;
    return valid;
  };
  if (!follows(header.calls_offset, header.calls_bytes) ||
      !follows(header.constants_offset, header.constants_bytes)) {
    return malformed("sections overlap, are misaligned or out of bounds");
  }
  return Error::Ok;
}

/// Checks the revisions of the providers, which say what kernels the payload was made for. The sections have been
/// checked: tensors follow `header_bytes`, inside of the payload.
Error check_revisions(const PayloadView& view, const Provider& provider) {
  const std::uint32_t* revision = view.revisions();
  const void* const end = view.tensors();
  unsigned rest = view.header().providers;
  for (unsigned id = 0; rest != 0 && revision < end; ++id, rest >>= 1) {
    if ((rest & 1) == 0) {
      continue;
    }
    if (*revision == 0 || *revision != provider.revision_of(id)) {
      ET_LOG(Error,
             "payload follows revision %08" PRIx32
             " of provider %u (%s), which the kernels \"%s\" do not follow: "
             "compile the model with the matching release, or link that provider",
             *revision, id, payload::kProviders, provider.name);
      return Error::DelegateInvalidCompatibility;
    }
    ++revision;
  }
  return rest == 0 && revision == end ? Error::Ok : malformed("wrong header size");
}

/// Checks one input or output: type, shape, dimension order, size and place in the arena.
bool tensor_valid(const IoTensor& tensor, std::uint32_t arena_bytes) {
  std::uint32_t nbytes = 1;
  if (tensor.dtype == static_cast<std::uint8_t>(payload::DType::kFloat32)) {
    nbytes = sizeof(float);
  } else if (tensor.dtype == static_cast<std::uint8_t>(payload::DType::kInt32)) {
    nbytes = sizeof(std::int32_t);
  } else if (tensor.dtype == static_cast<std::uint8_t>(payload::DType::kInt64)) {
    nbytes = sizeof(std::int64_t);
  } else if (tensor.dtype == static_cast<std::uint8_t>(payload::DType::kInt16)) {
    nbytes = sizeof(std::int16_t);
  } else if (tensor.dtype != static_cast<std::uint8_t>(payload::DType::kInt8)) {
    return false;
  }
  if (tensor.rank > payload::kMaxRank) {
    return false;
  }
  std::uint32_t dims_seen = 0;
  for (unsigned i = 0; i < payload::kMaxRank; ++i) {
    if (i >= tensor.rank) {
      if (tensor.sizes[i] != 0 || tensor.dim_order[i] != 0) {
        return false;
      }
      continue;
    }
    if (tensor.dim_order[i] >= tensor.rank) {
      return false;
    }
    dims_seen |= 1u << tensor.dim_order[i];
    nbytes = bounds::product(nbytes, static_cast<std::uint32_t>(tensor.sizes[i]));
  }
  return dims_seen == (1u << tensor.rank) - 1 && nbytes != 0 && nbytes != bounds::kTooLarge &&
         tensor.nbytes == nbytes &&
         (tensor.arena_offset == payload::kNoArenaOffset ||
          bounds::section_fits(tensor.arena_offset, nbytes, arena_bytes));
}

}  // namespace

Result<PayloadView> PayloadView::open(const void* data, std::size_t size,
                                      const KernelTable& kernels) {
  if (data == nullptr || size < sizeof(Header)) {
    ET_LOG(Error, "payload is truncated: %zu bytes are less than its header", size);
    return Error::InvalidProgram;
  }
  if (reinterpret_cast<std::uintptr_t>(data) % payload::kAlignment != 0) {
    ET_LOG(Error,
           "payload at %p is not 16-byte aligned: align the .pte (its buffer, and segments or "
           "delegate data with segment_alignment or delegate_alignment)",
           data);
    return Error::InvalidArgument;
  }
  const PayloadView view(*static_cast<const Header*>(data));
  const Header& header = view.header();
  Error error = check_identity(header, kernels);
  if (error != Error::Ok) {
    return error;
  }
  error = check_sections(header, size);
  if (error != Error::Ok) {
    return error;
  }
  error = check_revisions(view, *kernels.provider);
  if (error != Error::Ok) {
    return error;
  }
  for (unsigned i = 0; i < view.tensor_count(); ++i) {
    if (!tensor_valid(view.tensors()[i], header.arena_bytes)) {
      ET_LOG(Error, "malformed payload: input or output %u", i);
      return Error::InvalidProgram;
    }
  }
  for (unsigned i = 0; i < header.region_count; ++i) {
    const std::uint32_t bytes = view.region_bytes()[i];
    if (bytes > payload::kMaxRefOffset || bytes % payload::kAlignment != 0) {
      ET_LOG(Error, "malformed payload: size of region %u", i + 1);
      return Error::InvalidProgram;
    }
  }
  error = validate_calls(view, kernels);
  if (error != Error::Ok) {
    return error;
  }
  return view;
}

}  // namespace cmsis_nn_delegate
