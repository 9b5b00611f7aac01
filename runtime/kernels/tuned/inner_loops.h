// Chooses inner loops for the instruction set of an image.
#pragma once

#include <type_traits>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::tuned {

// Assembly for cores without DSP is compiled only for these, not for the host.
#ifdef __ARM_ARCH_ISA_THUMB
inline constexpr bool kThumb = true;
#else
inline constexpr bool kThumb = false;
#endif

// The compiler gives kernels of assembly calls only for its instruction sets; elsewhere they are complete, and slow.

/// `Dsp` in images for cores with DSP and without MVE; elsewhere `Plain`.
template <typename Dsp, typename Plain>
using DspOr = std::conditional_t<kCompiledIsa == payload::Isa::kDsp, Dsp, Plain>;

/// `Mve` in images for cores with MVE; elsewhere `Plain`.
template <typename Mve, typename Plain>
using MveOr = std::conditional_t<kCompiledIsa == payload::Isa::kMve, Mve, Plain>;

/// `Assembly`, which has the same functions for both, in images for cores with DSP or MVE; elsewhere `Plain`.
template <typename Assembly, typename Plain>
using DspOrMve = DspOr<Assembly, MveOr<Assembly, Plain>>;

/// `Dsp` or `Scalar` in images for cores with and without DSP; elsewhere, with MVE and on the host, `Plain`.
template <typename Dsp, typename Scalar, typename Plain>
using DspOrScalar =
    DspOr<Dsp, std::conditional_t<kThumb && kCompiledIsa == payload::Isa::kScalar, Scalar, Plain>>;

}  // namespace cmsis_nn_delegate::tuned
