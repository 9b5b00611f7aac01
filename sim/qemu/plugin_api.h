// The few declarations of QEMU's TCG plugin interface, version 1, that the plugins here use.
//
// QEMU loads a plugin as a shared object, looks up `qemu_plugin_version` and `qemu_plugin_install`, and
// defines the functions itself. Version 1 is the version of QEMU 7.2; a QEMU that no longer supports it refuses
// the plugin, and the driver continues without. Debian ships no header; the documentation is "QEMU TCG
// Plugins" in QEMU's developer manual.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))
#define PLUGIN_API_VERSION 1

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;  // Opaque.
struct qemu_plugin_tb;
struct qemu_plugin_insn;

// Whether a callback reads or writes registers, and the only operation that can be inlined: *pointer += value.
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb* tb);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu_index, void* userdata);
typedef uint32_t qemu_plugin_meminfo_t;  // What the access is; opaque here.
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned int vcpu_index, qemu_plugin_meminfo_t info,
                                          uint64_t vaddr, void* userdata);
typedef void (*qemu_plugin_udata_cb_t)(qemu_plugin_id_t id, void* userdata);

// Called when a block of guest code is translated, before it runs.
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t idx);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* insn);
void* qemu_plugin_insn_haddr(const struct qemu_plugin_insn* insn);  // In this process; may be NULL.
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* insn);

// Called each time the instruction is about to execute.
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* insn,
                                                enum qemu_plugin_op op, void* pointer,
                                                uint64_t value);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* insn,
                                            qemu_plugin_vcpu_udata_cb_t cb,
                                            enum qemu_plugin_cb_flags flags, void* userdata);

// Called after each access of the instruction to memory.
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* insn, qemu_plugin_vcpu_mem_cb_t cb,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                      void* userdata);

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb, void* userdata);
