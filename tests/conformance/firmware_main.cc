// The runner of suites on a device: runs the suite in the mailbox with the kernels of the build.
#include "platforms/bsp/bsp.h"
#include "runtime/kernels/selected.h"
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

}  // namespace

int main() {
  conformance::Totals totals;
  const KernelTable& kernels = selected_kernels();
  const bool complete = conformance::run_suite(
      __mailbox_start, static_cast<std::size_t>(__mailbox_end - __mailbox_start), __arena_start,
      static_cast<std::size_t>(__arena_end - __arena_start), kernels, report, totals);
  runner::Line("SUITE")
      .field("kernels", kernels.provider->name)
      .field("core", bsp_core)
      .field("cases", totals.cases)
      .field("failed", totals.failed)
      .field("scratch", totals.scratch_checked);
  bsp_exit(complete && totals.failed == 0 ? 0 : 1);
}
