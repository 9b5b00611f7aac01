// The markers of platforms/bsp/mark.h, which plugins report.
#pragma once

#include "sim/qemu/plugin_api.h"

#include <string.h>

// Returns the event of a marker, NULL for any other instruction.
static inline const char* marker(const struct qemu_plugin_insn* insn) {
  // No instruction of 32 bits begins with these, and the size is wrong at the end of a page: there, the first half
  // of the next instruction may be counted as part of this one.
  uint16_t code;
  if (qemu_plugin_insn_size(insn) < sizeof(code)) {
    return NULL;
  }
  memcpy(&code, qemu_plugin_insn_data(insn), sizeof(code));
  if (code == 0x46c9) {  // mov r9, r9
    return "begin";
  }
  if (code == 0x46d2) {  // mov r10, r10
    return "end";
  }
  return NULL;
}
