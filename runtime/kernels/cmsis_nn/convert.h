// Converts the payload's blocks to CMSIS-NN's types: the same bytes under two names, or numbers of 16 bits widened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <executorch/runtime/core/error.h>

#include "arm_nnfunctions.h"
#include "runtime/payload/kernel.h"

#ifdef CMSIS_NN_USE_SINGLE_ROUNDING
#error \
    "payloads are for kernels that round twice: leave out CMSIS_NN_USE_SINGLE_ROUNDING, here and for CMSIS-NN"
#endif

namespace cmsis_nn_delegate::cmsis_nn {

/// Whether CMSIS-NN is compiled with its kernels for MVE.
inline constexpr bool kWithMve = kCompiledIsa == payload::Isa::kMve;

/// Makes a kernel for calls that were compiled for CMSIS-NN and have the scratch memory that its functions
/// need.
constexpr Kernel cmsis_nn_kernel(const Operator& computed, Kernel::Run run,
                                 Kernel::ScratchBytes scratch_bytes = nullptr) {
  return Kernel(computed, run, scratch_bytes).only_of(payload::ProviderId::kCmsisNn);
}

// CMSIS-NN may read the payload's block as its own struct: both hold the same 32-bit integers in the same
// order.
#define CMSIS_NN_SAME_MEMBER(ours, theirs, member)                             \
  static_assert(offsetof(payload::ours, member) == offsetof(theirs, member) && \
                    sizeof(payload::ours::member) == sizeof(theirs::member),   \
                #ours "::" #member " lies elsewhere than in CMSIS-NN")
#define CMSIS_NN_SAME_SIZE(ours, theirs)                                                           \
  static_assert(sizeof(payload::ours) == sizeof(theirs) &&                                         \
                    alignof(payload::ours) == alignof(theirs) &&                                   \
                    std::is_standard_layout_v<payload::ours> && std::is_standard_layout_v<theirs>, \
                #ours " is not laid out as in CMSIS-NN")

CMSIS_NN_SAME_SIZE(Tile, cmsis_nn_tile);
CMSIS_NN_SAME_MEMBER(Tile, cmsis_nn_tile, w);
CMSIS_NN_SAME_MEMBER(Tile, cmsis_nn_tile, h);

CMSIS_NN_SAME_SIZE(Dims, cmsis_nn_dims);
CMSIS_NN_SAME_MEMBER(Dims, cmsis_nn_dims, n);
CMSIS_NN_SAME_MEMBER(Dims, cmsis_nn_dims, h);
CMSIS_NN_SAME_MEMBER(Dims, cmsis_nn_dims, w);
CMSIS_NN_SAME_MEMBER(Dims, cmsis_nn_dims, c);

CMSIS_NN_SAME_SIZE(Activation, cmsis_nn_activation);
CMSIS_NN_SAME_MEMBER(Activation, cmsis_nn_activation, min);
CMSIS_NN_SAME_MEMBER(Activation, cmsis_nn_activation, max);

CMSIS_NN_SAME_SIZE(ConvParams, cmsis_nn_conv_params);
CMSIS_NN_SAME_MEMBER(ConvParams, cmsis_nn_conv_params, input_offset);
CMSIS_NN_SAME_MEMBER(ConvParams, cmsis_nn_conv_params, output_offset);
CMSIS_NN_SAME_MEMBER(ConvParams, cmsis_nn_conv_params, stride);
CMSIS_NN_SAME_MEMBER(ConvParams, cmsis_nn_conv_params, padding);
CMSIS_NN_SAME_MEMBER(ConvParams, cmsis_nn_conv_params, dilation);
CMSIS_NN_SAME_MEMBER(ConvParams, cmsis_nn_conv_params, activation);

CMSIS_NN_SAME_SIZE(PoolParams, cmsis_nn_pool_params);
CMSIS_NN_SAME_MEMBER(PoolParams, cmsis_nn_pool_params, stride);
CMSIS_NN_SAME_MEMBER(PoolParams, cmsis_nn_pool_params, padding);
CMSIS_NN_SAME_MEMBER(PoolParams, cmsis_nn_pool_params, activation);

#undef CMSIS_NN_SAME_MEMBER
#undef CMSIS_NN_SAME_SIZE

inline const cmsis_nn_dims* native(const payload::Dims& dims) {
  return reinterpret_cast<const cmsis_nn_dims*>(&dims);
}
inline const cmsis_nn_conv_params* native(const payload::ConvParams& params) {
  return reinterpret_cast<const cmsis_nn_conv_params*>(&params);
}
inline const cmsis_nn_pool_params* native(const payload::PoolParams& params) {
  return reinterpret_cast<const cmsis_nn_pool_params*>(&params);
}

/// The parameters and sizes of a convolution whose block has 16 bits for each number, as CMSIS-NN takes them. It lies on
/// the stack of the kernel.
template <typename Params>
struct Widened {
  Params params;
  cmsis_nn_dims input;
  cmsis_nn_dims filter;
  cmsis_nn_dims output;
};

inline cmsis_nn_tile widened(const payload::PackedTile& tile) { return {tile.w, tile.h}; }
inline cmsis_nn_dims widened(const payload::PackedDims& dims) {
  return {dims.n, dims.h, dims.w, dims.c};
}
inline cmsis_nn_activation widened(const payload::PackedActivation& limits) {
  return {limits.min, limits.max};
}
inline cmsis_nn_conv_params widened(const payload::PackedConvParams& p) {
  return {p.input_offset,     p.output_offset,     widened(p.stride),
          widened(p.padding), widened(p.dilation), widened(p.activation)};
}
inline cmsis_nn_dw_conv_params widened(const payload::PackedDwConvParams& p) {
  return {p.input_offset,       p.output_offset,    p.ch_mult,
          widened(p.stride),    widened(p.padding), widened(p.dilation),
          widened(p.activation)};
}

inline cmsis_nn_activation widened(const payload::ActivationInt16& limits) {
  return {limits.min, limits.max};
}
inline cmsis_nn_conv_params widened(const payload::ConvInt16Params& p) {
  return {0,
          0,
          {p.stride.w, p.stride.h},
          {p.padding.w, p.padding.h},
          {p.dilation.w, p.dilation.h},
          widened(p.activation)};
}
inline cmsis_nn_pool_params widened(const payload::PoolInt16Params& p) {
  return {{p.stride.w, p.stride.h}, {p.padding.w, p.padding.h}, widened(p.activation)};
}

/// Returns those of `args`. Not inlined, because a kernel needs them twice.
template <typename Args>
[[gnu::noinline]] auto widened_sizes(const Args& args) {
  return Widened<decltype(widened(args.params))>{widened(args.params), widened(args.input_dims),
                                                 widened(args.filter_dims),
                                                 widened(args.output_dims)};
}

/// Returns the multipliers and shifts of `args`, one per output channel. CMSIS-NN only reads them,
/// although its pointers are not const.
template <typename Args>
cmsis_nn_per_channel_quant_params per_channel(const Args& args, const Bases& bases) {
  return {bases.resolve<std::int32_t>(args.multiplier), bases.resolve<std::int32_t>(args.shift)};
}

/// Returns the scratch memory of `args`; a null buffer if it has none.
template <typename Args>
cmsis_nn_context scratch(const Args& args, const Bases& bases) {
  return {bases.resolve<void>(args.scratch), args.scratch_bytes};
}

inline executorch::runtime::Error to_error(arm_cmsis_nn_status status) {
  using executorch::runtime::Error;
  switch (status) {
    case ARM_CMSIS_NN_SUCCESS:
      return Error::Ok;
    case ARM_CMSIS_NN_ARG_ERROR:
      return Error::InvalidProgram;  // the arguments come from the program
    case ARM_CMSIS_NN_NO_IMPL_ERROR:
      return Error::NotImplemented;
    default:
      return Error::Internal;
  }
}

}  // namespace cmsis_nn_delegate::cmsis_nn
