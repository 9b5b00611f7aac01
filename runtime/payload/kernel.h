// Defines kernels, and the tables that pass a set of kernels to the backend.
//
// A kernel runs one call of a payload: it takes the argument block exactly as it
// lies in flash (runtime/payload/format.h) and the base addresses that the block's
// references are relative to. The payload was validated when it was loaded, so a kernel
// checks nothing: every reference is in bounds and aligned, every dimension is
// positive, every product fits, the scratch memory is as large as the kernel asked for, and the
// kernel writes over nothing that it still reads. Only indices are checked by the kernel that
// reads them, because they are data.
//
// To link only the kernels that one model needs, write a table of your own, in any order:
//
//   constexpr KernelTable kMyKernels = {portable::kProvider,
//                                       {portable::kConv2d, portable::kFullyConnected}};
//
// init() then refuses a payload that uses an operator without a kernel. One table may have kernels
// of several providers; it then names the provider that accepts the fewest instruction sets.
//
// A kernel's constant has the checks of its calls, and so needs runtime/payload/operators.cc and
// what that needs. A linker that removes unused sections (--gc-sections) leaves the constant out
// where only the kernel's function is called. For builds without, CMSIS_NN_DELEGATE_WITHOUT_CHECKS
// compiles kernels whose constants have no checks: such kernels are for models as C++ calls alone.
#pragma once

#include <executorch/runtime/core/error.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"
#include "runtime/payload/operators.h"

namespace cmsis_nn_delegate {

#ifdef CMSIS_NN_DELEGATE_WITHOUT_CHECKS
/// In the place of all checks of calls: init() then refuses every payload.
inline bool refuse_call(const CallCheck& /*call*/, const void* /*args*/) { return false; }
#endif

/// How a provider computes one operator. Constant data: it lives in flash.
struct Kernel {
  /// Runs one call. `args` is the argument block of the kernel's opcode, 4-byte aligned. An error
  /// ends the execution and is returned to the caller of execute().
  using Run = executorch::runtime::Error (*)(const void* args, const Bases& bases);

  /// Returns how many bytes of scratch memory run() may use for `args`; validation refuses a call
  /// that has fewer. `args` has passed all other checks.
  using ScratchBytes = std::uint32_t (*)(const void* args);

  /// Returns whether run() can compute the call; validation refuses it otherwise. `args` has passed
  /// all other checks except that of scratch_bytes.
  using Accepts = bool (*)(const void* args);

  /// Returns whether run() computes the same if its output starts `distance` bytes before its input
  /// (behind it, if negative) and the two overlap. `args` has passed the checks of sizes and
  /// operands.
  using Overlaps = bool (*)(const void* args, std::int32_t distance);

  /// `scratch_bytes` is nullptr for a kernel that needs no scratch memory.
  constexpr Kernel(const Operator& computed, Run run, ScratchBytes scratch_bytes = nullptr)
      : run(run),
        scratch_bytes(scratch_bytes),
#ifdef CMSIS_NN_DELEGATE_WITHOUT_CHECKS
        check(refuse_call),
#else
        check(computed.check),
#endif
        opcode(computed.opcode),
        call_bytes(static_cast<std::uint16_t>(sizeof(payload::CallHeader) + computed.args_bytes)) {
  }

  /// Returns this kernel limited to the calls that `accepted` takes, for a kernel that supports
  /// less than the format allows.
  constexpr Kernel limited_to(Accepts accepted) const {
    Kernel kernel = *this;
    kernel.accepts = accepted;
    return kernel;
  }

  /// Returns this kernel marked as computing the same if its output lies exactly over an input of
  /// the same size. Validation refuses every other overlap of an output or of scratch memory with
  /// an operand; for kernels without this mark it refuses this overlap too.
  constexpr Kernel in_place() const {
    Kernel kernel = *this;
    kernel.overwrites_input = true;
    return kernel;
  }

  /// Returns this kernel, of one input, marked as computing the same at the distances between input
  /// and output for which `possible` returns true: what it overwrites there it no longer reads.
  constexpr Kernel overlapping(Overlaps possible) const {
    Kernel kernel = *this;
    kernel.overlaps = possible;
    return kernel;
  }

  /// Returns this kernel marked as loading `bytes` past the end of its constants without using
  /// them. No kernel may read past activations or scratch memory: there may be no memory after
  /// them.
  constexpr Kernel reading_past(payload::ReadsPast bytes) const {
    Kernel kernel = *this;
    kernel.past = bytes;
    return kernel;
  }

  /// Returns this kernel limited to calls that were compiled for `provider`, because it relies on
  /// that provider's scratch memory and constants.
  constexpr Kernel only_of(payload::ProviderId provider) const {
    return only_of(static_cast<unsigned>(provider));
  }

  /// The same for the number of a provider outside of this repository, below payload::kMaxProviders.
  constexpr Kernel only_of(unsigned provider) const {
    Kernel kernel = *this;
    kernel.providers = static_cast<std::uint8_t>(1u << provider);
    return kernel;
  }

  Run run;
  ScratchBytes scratch_bytes;
  Accepts accepts = nullptr;                               // nullptr: everything
  Overlaps overlaps = nullptr;                             // nullptr: never
  bool (*check)(const CallCheck& call, const void* args);  // see Operator
  payload::Opcode opcode;
  std::uint16_t call_bytes;  // of the header and the argument block
  payload::ReadsPast past = {0, 0};
  bool overwrites_input = false;  // see in_place()
  /// The bits 1 << ProviderId of the providers whose calls run() accepts. All by default, because
  /// plain code needs nothing of its provider.
  std::uint8_t providers = 0xFF;
};

/// Not defined, so that a kernel that calls it is not a constant expression.
void the_kernel_is_of_another_operator();

/// A kernel whose type names its operator, so that the compiler can build a table of kernels that
/// are defined in other files.
template <payload::Opcode kOpcode>
struct KernelOf : Kernel {
  // Implicit, because an expression defines the kernel. NOLINTNEXTLINE(google-explicit-constructor)
  constexpr KernelOf(const Kernel& kernel) : Kernel(kernel) {
    if (kernel.opcode != kOpcode) {
      the_kernel_is_of_another_operator();
    }
  }
};

/// Declares a kernel, in the namespace of its provider, for calls of an operator (or for some of them):
///
///   CMSIS_NN_DELEGATE_KERNEL(Conv2d, Conv2d, conv2d)
///
/// kConv2d is for tables: it has what validation needs to know, and links the checks of its calls.
/// run_conv2d() is its `run`, which links nothing else. conv2d() is the same function with the type
/// of its argument block, for code with calls of its own, such as `cmsisnn compile --emit cpp`
/// writes. Both check nothing: `args` must be such as init() accepts, and the memory behind `bases`
/// as large as `args` says.
#define CMSIS_NN_DELEGATE_KERNEL(Operator, Name, name)                           \
  extern const KernelOf<payload::Opcode::k##Operator> k##Name;                   \
  ::executorch::runtime::Error run_##name(const void* args, const Bases& bases); \
  inline ::executorch::runtime::Error name(const payload::Operator##Args& args,  \
                                           const Bases& bases) {                 \
    return run_##name(&args, bases);                                             \
  }

/// A set of `Isa` as bits.
using IsaSet = std::uint8_t;

constexpr IsaSet isa_set(payload::Isa isa) {
  return static_cast<IsaSet>(1u << static_cast<unsigned>(isa));
}

/// The instruction set this translation unit is compiled for, in the terms of CMSIS-NN,
/// which chooses its kernels by the same macros.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE
inline constexpr payload::Isa kCompiledIsa = payload::Isa::kMve;
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_DSP)
inline constexpr payload::Isa kCompiledIsa = payload::Isa::kDsp;
#else
inline constexpr payload::Isa kCompiledIsa = payload::Isa::kScalar;
#endif

/// The payloads that kernels accept if they do not depend on the instruction set: on a Cortex-M
/// those made for its instruction set, elsewhere (host tests, export machines) all.
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
inline constexpr IsaSet kAcceptedIsas = isa_set(kCompiledIsa);
#else
inline constexpr IsaSet kAcceptedIsas =
    isa_set(payload::Isa::kScalar) | isa_set(payload::Isa::kDsp) | isa_set(payload::Isa::kMve);
#endif

/// Which payloads a provider of kernels accepts. Constant data: it lives in flash.
struct Provider {
  /// `revisions` must outlive it.
  template <std::size_t kCount>
  constexpr Provider(const char* name, IsaSet isas, const std::uint32_t (&revisions)[kCount])
      : name(name), isas(isas), revision_count(kCount), revisions(revisions) {
    static_assert(kCount <= payload::kMaxProviders, "payloads have no more providers");
  }

  /// Revisions in braces would not outlive it.
  template <std::size_t kCount>
  Provider(const char* name, IsaSet isas, const std::uint32_t (&&revisions)[kCount]) = delete;

  /// Returns the revision that calls of the provider with this ProviderId may follow; 0 if the kernels do
  /// not run its calls.
  constexpr std::uint32_t revision_of(unsigned provider) const {
    return provider < revision_count ? revisions[provider] : 0;
  }

  /// Returns whether it may stand for both in a table with kernels of both: it knows all revisions of
  /// `other`, and accepts no instruction sets that `other` does not accept.
  constexpr bool covers(const Provider& other) const {
    for (unsigned i = 0; i < other.revision_count; ++i) {
      if (other.revisions[i] != 0 && other.revisions[i] != revision_of(i)) {
        return false;
      }
    }
    return (isas & ~other.isas) == 0;
  }

  /// For banners and logs: "portable", "cmsis-nn".
  const char* name;
  /// The instruction sets that payloads may have been compiled for.
  IsaSet isas;
  std::uint8_t revision_count;
  /// By ProviderId: the revision that a payload's constants and scratch sizes may follow. This
  /// includes other providers whose calls the kernels can run; 0 means that they cannot.
  const std::uint32_t* revisions;
};

/// The revisions of this repository's providers, for tables that run the calls of all.
inline constexpr std::uint32_t kRevisions[] = {payload::kPortableRevision,
                                               payload::kCmsisNnRevision, payload::kTunedRevision};

/// Refers to a kernel, which must outlive the table that it is put into.
class KernelRef {
 public:
  // Implicit, so that a table is a list of kernels. NOLINTBEGIN(google-explicit-constructor)
  template <payload::Opcode kOpcode>
  constexpr KernelRef(const KernelOf<kOpcode>& kernel) : kernel_(&kernel), opcode_(kOpcode) {}
  template <payload::Opcode kOpcode>
  KernelRef(KernelOf<kOpcode>&& temporary) = delete;
  constexpr KernelRef(const Kernel& kernel) : kernel_(&kernel), opcode_(kernel.opcode) {}
  KernelRef(Kernel&& temporary) = delete;
  // NOLINTEND(google-explicit-constructor)

  /// Returns this reference if the image accepts payloads for one of `isas`, else one to no kernel,
  /// with which a table is as without it: for kernels that the compiler takes for some instruction
  /// sets only.
  constexpr KernelRef in_images_for(IsaSet isas) const {
    KernelRef ref = *this;
    ref.kernel_ = (isas & kAcceptedIsas) != 0 ? kernel_ : nullptr;
    return ref;
  }

  /// nullptr for no kernel.
  constexpr const Kernel* get() const { return kernel_; }
  constexpr std::size_t opcode() const { return static_cast<std::size_t>(opcode_); }

 private:
  const Kernel* kernel_;
  payload::Opcode opcode_;
};

/// Not defined, so that a table that calls one of them is not a constant expression.
void two_kernels_of_a_table_compute_the_same_operator();
void joined_tables_accept_different_payloads();

/// A set of kernels, of one provider or several. Constant data: it lives in flash.
class KernelTable {
  /// With -fsanitize=undefined, GCC cannot tell in a constant expression whether the address of a
  /// kernel is null, and then refuses to compare it: such pointers are those of different objects.
  static constexpr bool equal(const Kernel* a, const Kernel* b) {
    return (!__builtin_is_constant_evaluated() || __builtin_constant_p(a == b) != 0) && a == b;
  }

  // The first member, so that execute() finds the kernel of each call without adding an offset.
  const Kernel* by_opcode_[payload::kOpcodeCount] = {};

 public:
  /// At most one kernel of each operator, in any order. They and `provider` must outlive the table.
  constexpr KernelTable(const Provider& provider, std::initializer_list<KernelRef> kernels)
      : provider(&provider) {
    for (const KernelRef& kernel : kernels) {
      const Kernel*& entry = by_opcode_[kernel.opcode()];
      if (entry != nullptr) {
        two_kernels_of_a_table_compute_the_same_operator();
      }
      entry = kernel.get();
    }
  }

  /// Returns this table with `other` deciding which payloads it accepts.
  constexpr KernelTable taking(const Provider& other) const {
    KernelTable table = *this;
    table.provider = &other;
    return table;
  }

  /// Returns this table with `kernel` added, or in place of the kernel for the same operator.
  constexpr KernelTable with(KernelRef kernel) const {
    KernelTable table = *this;
    table.by_opcode_[kernel.opcode()] = kernel.get();
    return table;
  }

  /// The same for several kernels.
  constexpr KernelTable with(std::initializer_list<KernelRef> kernels) const {
    KernelTable table = *this;
    for (const KernelRef& kernel : kernels) {
      table = table.with(kernel);
    }
    return table;
  }

  /// Returns a table with the kernels of both: one table for several models. One of them must know all
  /// providers of the other, and accept no more instruction sets.
  constexpr KernelTable joined(const KernelTable& other) const {
    if (!provider->covers(*other.provider) && !other.provider->covers(*provider)) {
      joined_tables_accept_different_payloads();
    }
    KernelTable table = provider->covers(*other.provider) ? *this : taking(*other.provider);
    for (std::size_t i = 0; i < payload::kOpcodeCount; ++i) {
      const Kernel* kernel = other.by_opcode_[i];
      if (equal(kernel, nullptr)) {
        continue;
      }
      if (!equal(table.by_opcode_[i], nullptr) && !equal(table.by_opcode_[i], kernel)) {
        two_kernels_of_a_table_compute_the_same_operator();
      }
      table.by_opcode_[i] = kernel;
    }
    return table;
  }

  constexpr KernelTable without(payload::Opcode opcode) const {
    KernelTable table = *this;
    table.by_opcode_[static_cast<std::size_t>(opcode)] = nullptr;
    return table;
  }

  /// Returns the kernel for `opcode`, which is less than kOpcodeCount, or nullptr.
  constexpr const Kernel* find(std::size_t opcode) const { return by_opcode_[opcode]; }
  constexpr const Kernel* find(payload::Opcode opcode) const {
    return find(static_cast<std::size_t>(opcode));
  }

  /// Decides which payloads are accepted.
  const Provider* provider;
};

}  // namespace cmsis_nn_delegate
