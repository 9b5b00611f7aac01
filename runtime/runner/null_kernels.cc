#include "runtime/runner/null_kernels.h"

#include <cstddef>
#include <utility>

namespace cmsis_nn_delegate::runner {
namespace {

executorch::runtime::Error run_nothing(const void* /*args*/, const Bases& /*bases*/) {
  return executorch::runtime::Error::Ok;
}

constexpr Provider kProvider = {"null", kAcceptedIsas, kRevisions};

// Any overlap that another table's kernel may allow.
constexpr bool at_any_distance(const void* /*args*/, std::int32_t /*distance*/) { return true; }

template <std::size_t kIndex>
constexpr Kernel kNothing =
    Kernel(kOperators[kIndex], run_nothing).in_place().overlapping(at_any_distance);

template <std::size_t... kIndices>
constexpr KernelTable table_of(std::index_sequence<kIndices...>) {
  return {kProvider, {kNothing<kIndices>...}};
}

}  // namespace

constexpr KernelTable kNullKernels =
    table_of(std::make_index_sequence<sizeof(kOperators) / sizeof(kOperators[0])>());

}  // namespace cmsis_nn_delegate::runner
