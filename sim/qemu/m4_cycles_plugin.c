// QEMU TCG plugin: models the Cortex-M4's cycles (m4_timing.h), and reports them at markers beside the executed
// instructions.
//
//   qemu-system-arm -plugin file=m4_cycles_plugin.so,out=FILE,flash=BEGIN-END:BEGIN-END ...
//
// Writes the lines of insn_count_plugin.c with four more numbers, of cycles so far:
//
//   begin <n> <min> <max> <min waits> <max waits>
//
// Waits are what flash adds (m4_flash.h) if the addresses from each BEGIN to before its END (hexadecimal) are in flash;
// the other two are for memories without wait states. Markers take none. For systems with one Cortex-M4.
#include "sim/qemu/m4_flash.h"
#include "sim/qemu/m4_timing.h"
#include "sim/qemu/marker.h"
#include "sim/qemu/plugin_api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PLUGIN_EXPORT int qemu_plugin_version = PLUGIN_API_VERSION;

typedef struct {
  M4Instruction instruction;
  uint32_t address;
  const char* event;  // of a marker
} Executed;

static M4Timing timing;
static M4Flash flash;
static uint64_t executed;
static FILE* out;

static void report(const char* event) {
  fprintf(out, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", event, executed,
          timing.min_cycles, timing.max_cycles, flash.min_waits, flash.max_waits);
}

static void on_execute(unsigned int vcpu_index, void* userdata) {
  (void)vcpu_index;
  const Executed* now = userdata;
  if (now->event == NULL) {
    ++executed;
    m4_execute(&timing, &now->instruction, now->address);
    m4_flash_fetch(&flash, now->address, now->instruction.bytes);
    return;
  }
  report(now->event);
  // As if the marker were not there: the instruction before it is followed by the one after it.
  if (timing.running && timing.next == now->address) {
    timing.next += now->instruction.bytes;
  }
}

static void on_access(unsigned int vcpu_index, qemu_plugin_meminfo_t info, uint64_t address,
                      void* userdata) {
  (void)vcpu_index;
  (void)info;
  const Executed* now = userdata;
  m4_load_from(&timing, &now->instruction, (uint32_t)address);
  m4_flash_load(&flash, (uint32_t)address);
}

static void on_end(qemu_plugin_id_t id, void* userdata) {
  (void)id;
  (void)userdata;
  report("total");
  fclose(out);
}

// Returns the bytes of an instruction. Those that QEMU gives are wrong at the end of a page (of 1 KiB): the first half
// of an instruction that lies across the end is counted as part of the one before it. Both pages are the same memory.
static const void* code_of(const struct qemu_plugin_insn* insn) {
  const void* code = qemu_plugin_insn_haddr(insn);
  return code != NULL ? code : qemu_plugin_insn_data(insn);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(tb);
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    // Never freed: QEMU does not say when it drops a block.
    Executed* now = calloc(1, sizeof(Executed));
    if (now == NULL) {
      abort();
    }
    uint16_t first;
    memcpy(&first, qemu_plugin_insn_data(insn), sizeof(first));
    now->instruction = m4_decode(code_of(insn), m4_size(first));
    now->address = (uint32_t)qemu_plugin_insn_vaddr(insn);
    now->event = marker(insn);
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_execute, QEMU_PLUGIN_CB_NO_REGS, now);
    if (now->event == NULL) {
      // QEMU 7.2 calls back for reads only if it shall do so for writes too. Nothing writes to flash.
      qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                       now);
    }
  }
}

// Reads "BEGIN-END:BEGIN-END". Returns false if that is not what `text` is.
static bool read_ranges(const char* text) {
  while (true) {
    char* end = NULL;
    M4FlashRange range;
    range.begin = (uint32_t)strtoul(text, &end, 16);
    if (end == text || *end != '-' || flash.range_count == M4_FLASH_MAX_RANGES) {
      return false;
    }
    text = end + 1;
    range.end = (uint32_t)strtoul(text, &end, 16);
    if (end == text || range.end < range.begin) {
      return false;
    }
    flash.ranges[flash.range_count++] = range;
    if (*end == '\0') {
      return true;
    }
    if (*end != ':') {
      return false;
    }
    text = end + 1;
  }
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                      char** argv) {
  (void)info;
  static const char kOut[] = "out=";
  static const char kFlash[] = "flash=";
  if (argc != 2 || strncmp(argv[0], kOut, strlen(kOut)) != 0 ||
      strncmp(argv[1], kFlash, strlen(kFlash)) != 0 || !read_ranges(argv[1] + strlen(kFlash))) {
    fprintf(stderr, "m4_cycles_plugin: needs two arguments, out=FILE,flash=BEGIN-END\n");
    return 1;
  }
  out = fopen(argv[0] + strlen(kOut), "w");
  if (out == NULL) {
    perror(argv[0]);
    return 1;
  }
  setvbuf(out, NULL, _IOLBF, BUFSIZ);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  qemu_plugin_register_atexit_cb(id, on_end, NULL);
  return 0;
}
