// Runs all cases and prints which of them compute other bytes than the reference.
#include "platforms/bsp/bsp.h"
#include "runtime/runner/report.h"
#include "tests/forms/cases.h"

int main() {
  using namespace cmsis_nn_delegate;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < forms::kCases.count; ++i) {
    const forms::Case& test = forms::kCases.first[i];
    const std::size_t differing = forms::differing_bytes(
        test, __arena_start, static_cast<std::size_t>(__arena_end - __arena_start));
    if (differing != 0) {
      ++wrong;
      runner::Line("DIFFER").field("bytes", differing).text(test.text);
    }
  }
  runner::Line("CASES").field("count", forms::kCases.count).field("wrong", wrong);
  return wrong == 0 && forms::kCases.count != 0 ? 0 : 1;
}
