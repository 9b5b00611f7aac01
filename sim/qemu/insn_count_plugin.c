// QEMU TCG plugin: counts executed instructions exactly, and reports the count at markers.
//
//   qemu-system-arm -plugin file=insn_count_plugin.so,out=FILE ...
//
// Writes one line per event to FILE:
//   begin <n>    MARK_BEGIN() of platforms/bsp/mark.h is about to execute
//   end <n>      MARK_END() is about to execute
//   total <n>    QEMU ends
// <n> is the number of instructions executed so far, without markers, so that the difference of two lines is
// what ran between them, including nested regions. For systems with one core.
#include "sim/qemu/marker.h"
#include "sim/qemu/plugin_api.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

PLUGIN_EXPORT int qemu_plugin_version = PLUGIN_API_VERSION;

static uint64_t executed;
static FILE* out;

static void report(const char* event) { fprintf(out, "%s %" PRIu64 "\n", event, executed); }

static void on_mark(unsigned int vcpu_index, void* event) {
  (void)vcpu_index;
  report(event);
}

static void on_exit(qemu_plugin_id_t id, void* userdata) {
  (void)id;
  (void)userdata;
  report("total");
  fclose(out);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(tb);
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const char* event = marker(insn);
    if (event != NULL) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, (void*)event);
    } else {
      // One per instruction, not one per block: a fault may leave a block early.
      qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &executed, 1);
    }
  }
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                      char** argv) {
  (void)info;
  static const char kOut[] = "out=";
  if (argc != 1 || strncmp(argv[0], kOut, strlen(kOut)) != 0) {
    fprintf(stderr, "insn_count_plugin: needs exactly one argument, out=FILE\n");
    return 1;
  }
  out = fopen(argv[0] + strlen(kOut), "w");
  if (out == NULL) {
    perror(argv[0]);
    return 1;
  }
  // If the run is killed, the file still has all lines reported before.
  setvbuf(out, NULL, _IOLBF, BUFSIZ);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  qemu_plugin_register_atexit_cb(id, on_exit, NULL);
  return 0;
}
