// What ExecuTorch's runtime needs from its platform, for this project's boards: without log and heap.
#include <cstdarg>
#include <cstddef>
#include <cstdlib>

#include <executorch/runtime/platform/platform.h>

#include "platforms/bsp/bsp.h"
#include "runtime/runner/executorch/format.h"

extern "C" {

void et_pal_init(void) {}

ET_NORETURN void et_pal_abort(void) { abort(); }

et_timestamp_t et_pal_current_ticks(void) { return bsp_ticks(); }

/// Leaves ticks as they are, because the boards' clocks are those of a simulator.
et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void) { return {1, 1}; }

void et_pal_emit_log_message(et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t,
                             const char*, size_t) {}

void* et_pal_allocate(size_t) { return nullptr; }
void et_pal_free(void*) {}

// The runtime builds names of operators with these.
int vsnprintf(char* buffer, size_t size, const char* text, va_list arguments) {
  return cmsis_nn_delegate::runner::format(buffer, size, text, arguments);
}

int snprintf(char* buffer, size_t size, const char* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  const int length = cmsis_nn_delegate::runner::format(buffer, size, text, arguments);
  va_end(arguments);
  return length;
}

}  // extern "C"
