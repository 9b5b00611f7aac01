#include "sim/qemu/m4_timing.h"

#include <string.h>

static const unsigned kSp = 13;
static const unsigned kPc = 15;

// Cycles of a pipeline refill: P in the manual.
static const unsigned kMinRefill = 1;
static const unsigned kMaxRefill = 3;

static uint16_t reg(unsigned number) { return (uint16_t)(1u << number); }

static M4Instruction make(M4Kind kind, unsigned cycles) {
  M4Instruction result;
  memset(&result, 0, sizeof(result));
  result.kind = kind;
  result.min_cycles = result.max_cycles = (uint8_t)cycles;
  return result;
}

static M4Instruction data(unsigned destination) {
  if (destination == kPc) {
    return make(kM4Branch, 1);
  }
  M4Instruction result = make(kM4Data, 1);
  result.writes = reg(destination);
  return result;
}

static M4Instruction load(unsigned target, unsigned base, unsigned width) {
  M4Instruction result = make(kM4Load, 2);
  result.writes = reg(target);
  result.address = reg(base);
  result.width = (uint8_t)width;
  if (base == kPc) {
    result.max_cycles = 3;
  }
  return result;
}

static M4Instruction store(unsigned base) {
  M4Instruction result = make(kM4Store, 1);
  result.address = reg(base);
  return result;
}

static M4Instruction with_offset(M4Instruction access, unsigned offset) {
  access.address |= reg(offset);
  if (access.kind == kM4Store) {
    access.kind = kM4StoreOffset;
    access.min_cycles = access.max_cycles = 2;
  }
  return access;
}

// Loads or stores `count` words.
static M4Instruction multiple(unsigned base, unsigned count) {
  M4Instruction result = make(kM4Multiple, 1 + count);
  result.address = reg(base);
  return result;
}

static unsigned ones(unsigned bits) { return (unsigned)__builtin_popcount(bits); }

static M4Instruction decode_miscellaneous_16(unsigned h) {
  const unsigned low = h & 7;
  if ((h & 0xff00) == 0xb000) {
    return data(kSp);
  }
  if ((h & 0xf500) == 0xb100) {  // CBZ, CBNZ
    return make(kM4Branch, 1);
  }
  if ((h & 0xff00) == 0xb200 || (h & 0xff00) == 0xba00) {  // extensions, reversals
    return data(low);
  }
  if ((h & 0xf600) == 0xb400) {  // PUSH, POP
    return multiple(kSp, ones(h & 0x1ff));
  }
  M4Instruction result = make(kM4Other, 1);
  if ((h & 0xff00) == 0xbf00 && (h & 0xf) != 0) {  // IT
    result.min_cycles = 0;
  }
  return result;
}

static M4Instruction decode_16(unsigned h) {
  const unsigned low = h & 7;
  const unsigned middle = (h >> 8) & 7;
  const unsigned base = (h >> 3) & 7;
  switch (h >> 12) {
    case 0x0:
    case 0x1:
      return data(low);
    case 0x2:
    case 0x3:
      return (h >> 11) == 5 ? make(kM4Other, 1) : data(middle);  // CMP writes no register
    case 0x4:
      if ((h & 0xf800) == 0x4800) {
        return load(middle, kPc, 4);
      }
      if ((h & 0xfc00) == 0x4000) {
        const unsigned operation = (h >> 6) & 15;
        const bool compares = operation == 8 || operation == 10 || operation == 11;
        return compares ? make(kM4Other, 1) : data(low);
      }
      if ((h & 0xff00) == 0x4500) {
        return make(kM4Other, 1);  // CMP
      }
      if ((h & 0xff00) == 0x4700) {
        return make(kM4Branch, 1);  // BX, BLX
      }
      return data(low | ((h >> 4) & 8));
    case 0x5: {
      static const uint8_t kWidths[] = {4, 2, 1, 1, 4, 2, 1, 2};
      const unsigned operation = (h >> 9) & 7;
      const M4Instruction access =
          operation < 3 ? store(base) : load(low, base, kWidths[operation]);
      return with_offset(access, (h >> 6) & 7);
    }
    case 0x6:
    case 0x7:
    case 0x8: {
      const unsigned width = (h >> 12) == 6 ? 4 : (h >> 12) == 7 ? 1 : 2;
      return (h & 0x800) != 0 ? load(low, base, width) : store(base);
    }
    case 0x9:
      return (h & 0x800) != 0 ? load(middle, kSp, 4) : store(kSp);
    case 0xa:
      return data(middle);
    case 0xb:
      return decode_miscellaneous_16(h);
    case 0xc:
      return multiple(middle, ones(h & 0xff));
    default:
      return make(kM4Branch, 1);
  }
}

static M4Instruction decode_fpu(unsigned a, unsigned b) {
  if ((a & 0xff00) == 0xec00 || (a & 0xff00) == 0xed00) {
    if ((a & 0xffe0) == 0xec40) {
      return make(kM4Other, 2);  // VMOV of two registers
    }
    const bool one = (a & 0x0120) == 0x0100;  // VLDR, VSTR
    return multiple(a & 15, one ? ((b & 0x100) != 0 ? 2 : 1) : (b & 0xff));
  }
  if ((b & 0x10) != 0) {  // moves between the FPU and registers
    return (a & 0x10) != 0 ? data((b >> 12) & 15) : make(kM4Other, 1);
  }
  switch (a & 0xb0) {
    case 0x00:  // VMLA, VMLS
    case 0x10:  // VNMLA, VNMLS
    case 0x90:  // VFNMA, VFNMS
    case 0xa0:  // VFMA, VFMS
      return make(kM4Other, 3);
    case 0x80:
      return make(kM4Other, 14);  // VDIV
    default:
      return make(kM4Other, (a & 0xbf) == 0xb1 && (b & 0xc0) == 0xc0 ? 14 : 1);  // VSQRT
  }
}

static M4Instruction decode_single_32(unsigned a, unsigned b) {
  const unsigned base = a & 15;
  const unsigned target = b >> 12;
  const unsigned size = (a >> 5) & 3;
  const bool is_load = (a & 0x10) != 0;
  if (is_load && target == kPc && size != 2) {
    return make(kM4Other, 1);  // preload hints
  }
  M4Instruction access = is_load ? load(target, base, 1u << size) : store(base);
  if ((a & 0x80) != 0 || base == kPc) {
    return access;
  }
  if ((b & 0x800) == 0) {
    return with_offset(access, b & 15);
  }
  if ((b & 0x100) != 0) {
    access.updates = reg(base);
  }
  return access;
}

static M4Instruction decode_32(unsigned a, unsigned b) {
  const unsigned destination = (b >> 8) & 15;
  if ((a & 0xec00) == 0xec00) {
    return decode_fpu(a, b);
  }
  if ((a & 0xfe40) == 0xe800) {  // LDM, STM
    return multiple(a & 15, ones(b));
  }
  if ((a & 0xfe40) == 0xe840) {
    if ((a & 0xfff0) == 0xe8d0 && (b & 0xffe0) == 0xf000) {
      return make(kM4Branch, 2);  // TBB, TBH
    }
    const bool exclusive = (a & 0xff60) == 0xe840 || (a & 0xffe0) == 0xe8c0;
    return exclusive ? multiple(a & 15, 1) : multiple(a & 15, 2);
  }
  if ((a & 0xf800) == 0xf000 && (b & 0x8000) != 0) {
    const bool miscellaneous = (b & 0x5000) == 0 && ((a >> 7) & 7) == 7;
    return make(miscellaneous ? kM4Other : kM4Branch, 1);
  }
  if ((a & 0xfe00) == 0xf800) {
    return decode_single_32(a, b);
  }
  if ((a & 0xff80) == 0xfb80) {
    M4Instruction result = data(destination);
    if (((a & 0xfff0) == 0xfb90 || (a & 0xfff0) == 0xfbb0) && (b & 0xf0) == 0xf0) {  // SDIV, UDIV
      result.min_cycles = 2;
      result.max_cycles = 12;
    } else {  // long products
      result.writes |= reg((b >> 12) & 15);
    }
    return result;
  }
  // Comparisons write register 15, which is none.
  return destination == kPc ? make(kM4Other, 1) : data(destination);
}

size_t m4_size(uint16_t first) { return first >= 0xe800 ? 4 : 2; }

M4Instruction m4_decode(const void* code, size_t size) {
  uint16_t halves[2] = {0, 0};
  memcpy(halves, code, size);
  M4Instruction result = size == 2 ? decode_16(halves[0]) : decode_32(halves[0], halves[1]);
  result.bytes = (uint8_t)size;
  return result;
}

void m4_execute(M4Timing* timing, const M4Instruction* instruction, uint32_t address) {
  unsigned min_cycles = instruction->min_cycles;
  unsigned max_cycles = instruction->max_cycles;
  const M4Instruction* last = &timing->last;
  const bool in_sequence = timing->running && address == timing->next;
  if (timing->running && !in_sequence) {
    min_cycles += kMinRefill;
    max_cycles += kMaxRefill;
  }
  const bool one_access = instruction->kind == kM4Load || instruction->kind == kM4StoreOffset;
  if (in_sequence && one_access && last->kind == kM4Load &&
      (last->writes & instruction->address) == 0) {
    --min_cycles;
    if ((last->updates & instruction->address) == 0) {
      --max_cycles;
    }
  }
  // The result of the last instruction is not forwarded to the address.
  if (in_sequence && last->kind == kM4Data && (last->writes & instruction->address) != 0) {
    ++min_cycles;
    ++max_cycles;
  }
  timing->min_cycles += min_cycles;
  timing->max_cycles += max_cycles;
  timing->last = *instruction;
  timing->next = address + instruction->bytes;
  timing->running = true;
}

void m4_load_from(M4Timing* timing, const M4Instruction* load, uint32_t address) {
  unsigned extra = 0;
  if (load->kind == kM4Load && load->width == 4 && (address & 3) != 0) {
    extra = (address & 1) != 0 ? 2 : 1;  // as byte, halfword and byte; as two halfwords
  } else if (load->kind == kM4Load && load->width == 2 && (address & 1) != 0) {
    extra = 1;  // as two bytes
  }
  timing->min_cycles += extra;
  timing->max_cycles += extra;
}
