// The runner of suites on a device: runs the suite in the mailbox with the kernels of the build.
#include "platforms/bsp/bsp.h"
#include "runtime/kernels/selected.h"
#include "runtime/kernels/tuned/tuned.h"
#ifdef CMSIS_NN_DELEGATE_CMSIS_NN
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#endif
#include "runtime/runner/report.h"
#include "tests/conformance/run_suite.h"

namespace {

using namespace cmsis_nn_delegate;

void report(std::uint32_t index, const char* what, std::int64_t a, std::int64_t b) {
  runner::Line("CASE")
      .field("index", index)
      .field("a", static_cast<std::uint64_t>(a))
      .field("b", static_cast<std::uint64_t>(b))
      .text(what);
}

constexpr KernelRef kNarrow[] = {
    tuned::kAvgPool2dChannelsWhole,       tuned::kConv2dPairsAny,
    tuned::kDepthwiseConv2d5x5Stride1,    tuned::kDepthwiseConv2d5x5Stride2,
    tuned::kDepthwiseConv2dPlanesStride1, tuned::kDepthwiseConv2dPlanesStride2,
#ifdef CMSIS_NN_DELEGATE_CMSIS_NN
    cmsis_nn::kDepthwiseConv2d3x3,        cmsis_nn::kDepthwiseConv2dOpt,
#endif
};

}  // namespace

int main() {
  conformance::Totals totals;
  const KernelTable& kernels = selected_kernels();
  const bool complete = conformance::run_suite(
      __mailbox_start, static_cast<std::size_t>(__mailbox_end - __mailbox_start), __arena_start,
      static_cast<std::size_t>(__arena_end - __arena_start), kernels,
      {kNarrow, sizeof(kNarrow) / sizeof(kNarrow[0])}, report, totals);
  runner::Line("SUITE")
      .field("kernels", kernels.provider->name)
      .field("core", bsp_core)
      .field("cases", totals.cases)
      .field("failed", totals.failed)
      .field("scratch", totals.scratch_checked)
      .field("narrow", totals.narrow);
  bsp_exit(complete && totals.failed == 0 ? 0 : 1);
}
