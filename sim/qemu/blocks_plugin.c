// QEMU TCG plugin: which blocks of instructions execute, and how often each follows which other, between markers.
//
//   qemu-system-arm -plugin file=blocks_plugin.so,out=FILE ...
//
// Writes the lines of insn_count_plugin.c, and before each of them what has happened since the last one:
//
//   block <b> <address> <n>   block number b, from 1 on, has n instructions from this address (hexadecimal) on
//   step <a> <b> <times>      block b has executed so many times directly after block a, which is 0 for none
//
// A block is a run of instructions in sequence that QEMU translates together, without markers. The same instructions
// may be several blocks, and one that was left before its end is another block. A model of the core's cycles prices the
// steps: sim/pricing.py. For systems with one core.
#include "sim/qemu/marker.h"
#include "sim/qemu/plugin_api.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PLUGIN_EXPORT int qemu_plugin_version = PLUGIN_API_VERSION;

typedef struct Block Block;

typedef struct Step {
  Block* to;
  uint64_t times;  // since the last marker
  struct Step* next;
} Step;

struct Block {
  uint64_t number;
  uint64_t address;
  size_t instructions;
  bool written;
  Step* steps;  // to blocks that have followed it, the last one first
  Block* next;  // of all blocks
};

static Block start;  // number 0: nothing has executed
static Block* blocks = &start;
static Block* last = &start;
static Step* last_step;      // to `last`, NULL if its end is known
static Block* before_last;   // where that begins
static uint64_t last_begin;  // instructions before `last`
static uint64_t block_count;
static uint64_t executed;
static FILE* out;

static void* allocate(size_t size) {
  // Never freed: QEMU does not say when it drops a block.
  void* memory = calloc(1, size);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

static void write_block(Block* block) {
  if (!block->written && block != &start) {
    fprintf(out, "block %" PRIu64 " %" PRIx64 " %zu\n", block->number, block->address,
            block->instructions);
    block->written = true;
  }
}

static void report(const char* event) {
  for (Block* from = blocks; from != NULL; from = from->next) {
    for (Step* step = from->steps; step != NULL; step = step->next) {
      if (step->times != 0) {
        write_block(from);
        write_block(step->to);
        fprintf(out, "step %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", from->number, step->to->number,
                step->times);
        step->times = 0;
      }
    }
  }
  fprintf(out, "%s %" PRIu64 "\n", event, executed);
}

static Block* add_block(uint64_t address) {
  Block* block = allocate(sizeof(Block));
  block->number = ++block_count;
  block->address = address;
  block->next = blocks;
  blocks = block;
  return block;
}

static Step* step_to(Block* from, Block* to) {
  Step** place = &from->steps;
  while (*place != NULL && (*place)->to != to) {
    place = &(*place)->next;
  }
  Step* step = *place;
  if (step == NULL) {
    step = allocate(sizeof(Step));
    step->to = to;
  } else {
    *place = step->next;
  }
  // To the front: what has just happened is likely to happen again.
  step->next = from->steps;
  from->steps = step;
  return step;
}

// The end of `last`. QEMU leaves a block early for a fault, and where an instruction accesses a device.
static void finish(void) {
  if (last_step == NULL || executed - last_begin == last->instructions) {
    last_step = NULL;
    return;
  }
  --last_step->times;
  last_step = NULL;
  const size_t count = (size_t)(executed - last_begin);
  Block* part = blocks;
  while (part != NULL && (part->address != last->address || part->instructions != count)) {
    part = part->next;
  }
  if (part == NULL) {
    part = add_block(last->address);
    part->instructions = count;
  }
  last = part;
  ++step_to(before_last, part)->times;
}

static void on_mark(unsigned int vcpu_index, void* event) {
  (void)vcpu_index;
  finish();
  report(event);
}

static void on_block(unsigned int vcpu_index, void* userdata) {
  (void)vcpu_index;
  Block* now = userdata;
  finish();
  last_step = step_to(last, now);
  ++last_step->times;
  last_begin = executed;
  before_last = last;
  last = now;
}

static void on_end(qemu_plugin_id_t id, void* userdata) {
  (void)id;
  (void)userdata;
  finish();
  report("total");
  fclose(out);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(tb);
  Block* block = NULL;
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const char* event = marker(insn);
    if (event != NULL) {
      block = NULL;
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, (void*)event);
      continue;
    }
    if (block == NULL) {
      block = add_block(qemu_plugin_insn_vaddr(insn));
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
    }
    ++block->instructions;
    // Each by itself, because a block may be left early. This comes after the callback.
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &executed, 1);
  }
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                      char** argv) {
  (void)info;
  static const char kOut[] = "out=";
  if (argc != 1 || strncmp(argv[0], kOut, strlen(kOut)) != 0) {
    fprintf(stderr, "blocks_plugin: needs exactly one argument, out=FILE\n");
    return 1;
  }
  out = fopen(argv[0] + strlen(kOut), "w");
  if (out == NULL) {
    perror(argv[0]);
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  qemu_plugin_register_atexit_cb(id, on_end, NULL);
  return 0;
}
