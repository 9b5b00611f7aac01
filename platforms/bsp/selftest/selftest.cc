// Firmware that tests the board support, the toolchain's settings and the simulator.
//
// The job is 16 bytes: magic "TEST", command, argument, 0 (little-endian words), then data. Without one
// it runs all checks that end by themselves; the exit code is the number of checks that failed.
#include <cstdint>

#include "platforms/bsp/bsp.h"
#include "platforms/bsp/mark.h"

#ifdef __ARM_FEATURE_MVE
#include <arm_mve.h>
#endif

namespace {

constexpr std::uint32_t kMagic = 0x54534554;  // "TEST"

enum class Command : std::uint32_t {
  kExit = 1,    // exit code `argument`
  kFault,       // an undefined instruction
  kWildJump,    // to address `argument`
  kOverflow,    // endless recursion
  kHang,        // never ends
  kChecksum,    // prints the sum of the `argument` bytes of data
  kLoop,        // `argument` times a loop of two instructions, counted by markers and by ticks
  kNested,      // regions in a region
  kUnfinished,  // leaves with a region open
  kLostStack,   // a fault with the stack pointer at `argument`
  kArmv7,       // an instruction that Armv6-M does not have; prints what it computes
};

struct Job {
  std::uint32_t magic;
  Command command;
  std::uint32_t argument;
  std::uint32_t reserved;
  unsigned char data[];
};

void print(const char* text) {
  std::size_t size = 0;
  while (text[size] != '\0') {
    ++size;
  }
  bsp_write(text, size);
}

void print(std::uint64_t value) {
  char digits[20];
  std::size_t first = sizeof(digits);
  do {
    digits[--first] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  bsp_write(digits + first, sizeof(digits) - first);
}

void print_field(const char* name, std::uint64_t value) {
  print(name);
  print("=");
  print(value);
  print("\n");
}

int failures = 0;

void check(const char* what, bool ok) {
  print(ok ? "ok " : "FAILED ");
  print(what);
  print("\n");
  failures += ok ? 0 : 1;
}

// --- Start-up -------------------------------------------------------------------------------------

volatile std::uint32_t initialised = 0x12345678;
volatile std::uint32_t zeroed;
volatile bool constructed;

[[gnu::constructor]] void construct() { constructed = zeroed == 0; }

void check_start_up() {
  check(".data is copied", initialised == 0x12345678);
  check(".bss is zeroed", zeroed == 0);
  check(".init_array runs", constructed);
}

// --- Arithmetic units -----------------------------------------------------------------------------

void check_units() {
  volatile float x = 1.5f;
  check("float arithmetic", x * 2.25f == 3.375f);
  // With fused multiply-add, the difference would be the rounding error of the product.
  volatile float y = 1.0f + 0x1p-12f;
  const float product = y * y;
  check("products are rounded before they are added", y * y - product == 0.0f);
#ifdef __ARM_FEATURE_MVE
  check("compiled for mve", bsp_isa[0] == 'm');
  const int8x16_t lanes = vaddq_n_s8(vdupq_n_s8(3), 4);
  check("vector arithmetic", vaddvq_s8(lanes) == 16 * 7);
#elif defined(__ARM_FEATURE_DSP)
  check("compiled for dsp", bsp_isa[0] == 'd');
#else
  check("compiled for scalar", bsp_isa[0] == 's');
#endif
}

// --- Memory ---------------------------------------------------------------------------------------

bool has_mailbox() {
  return reinterpret_cast<std::uintptr_t>(__mailbox_end) !=
         reinterpret_cast<std::uintptr_t>(__mailbox_start);
}

void check_memory() {
  const auto start = reinterpret_cast<std::uintptr_t>(__arena_start);
  const auto end = reinterpret_cast<std::uintptr_t>(__arena_end);
  const auto mailbox = reinterpret_cast<std::uintptr_t>(__mailbox_start);
  check("the arena is aligned", start % 16 == 0 && end % 16 == 0);
  check("the mailbox is aligned", mailbox % 16 == 0);
  // Boards that people own have none.
  check("the mailbox holds 8 MiB",
        !has_mailbox() || reinterpret_cast<std::uintptr_t>(__mailbox_end) - mailbox >= 8 << 20);
  auto* const first = reinterpret_cast<volatile unsigned char*>(start);
  auto* const last = reinterpret_cast<volatile unsigned char*>(end - 1);
  *first = 0x5a;
  *last = 0xa5;
  check("the arena is memory", *first == 0x5a && *last == 0xa5);
}

[[gnu::noinline]] void use_stack() {
  volatile unsigned char buffer[2000];
  for (std::size_t i = 0; i < sizeof(buffer); ++i) {
    buffer[i] = static_cast<unsigned char>(i);
  }
}

void check_stack() {
  const std::size_t before = bsp_stack_high_water();
  const std::size_t again = bsp_stack_high_water();
  use_stack();
  const std::size_t after = bsp_stack_high_water();
  check("a little stack was used", before > 32 && before < 1000);
  check("measuring the stack uses none", again == before);
  print_field("stack", after);
  check("2000 bytes more were used", after >= 2000 && after < before + 2100);
}

// --- Time -----------------------------------------------------------------------------------------

// Executes 2 * `count` instructions and the return.
[[gnu::noinline]] void spin(std::uint32_t count) {
  __asm__ volatile(
      ".syntax unified\n"
      "1: subs %0, #1\n"
      "bne 1b\n"
      : "+l"(count)::"cc");
}

// Executes 126 * `count` instructions and the return. In simulators, long blocks take less time than spin()'s short ones.
[[gnu::noinline]] void spin_long(std::uint32_t count) {
  __asm__ volatile(
      ".syntax unified\n"
      "1: subs %0, #1\n"
      ".rept 124\n"
      "nop\n"
      ".endr\n"
      "bne 1b\n"
      : "+l"(count)::"cc");
}

// Reads the time from shortly before until after the next wrap of the 24-bit counter. Returns true if it
// never decreased and never advanced by more than a few calls can take, `slack`.
bool wrap_is_smooth(std::uint64_t slack) {
  constexpr std::uint64_t kPeriod = 1u << 24;
  const std::uint64_t wrap = (bsp_ticks() / kPeriod + 1) * kPeriod;
  while (bsp_ticks() < wrap - 200) {
    const std::uint64_t now = bsp_ticks();
    const auto left = now < wrap - 200 ? static_cast<std::uint32_t>(wrap - 200 - now) : 0;
    // Some of what is left: 2 instructions are a thirtieth of a tick in a simulated board with a slow clock, but may take
    // 10 ticks where code is read from slow flash.
    if (left >= 1024) {
      spin_long(left / 1024);
    } else {
      spin(left / 16 + 1);
    }
  }
  std::uint64_t last = bsp_ticks();
  while (last < wrap + 200) {
    const std::uint64_t now = bsp_ticks();
    if (now < last || now - last > 10 + slack) {
      return false;
    }
    last = now;
  }
  return true;
}

void check_ticks() {
  // A tick is a cycle of the core's clock: of a fast one, a call takes many.
  const std::uint64_t before = bsp_ticks();
  const std::uint64_t slack = 4 * (bsp_ticks() - before);
  const std::uint64_t start = bsp_ticks();
  spin(100000);
  const std::uint64_t once = bsp_ticks() - start;
  spin(200000);
  const std::uint64_t thrice = bsp_ticks() - start;
  check("time is proportional to work",
        once > 0 && thrice + 3 + slack >= 3 * once && thrice <= 3 * once + 3 + slack);
  // The output before this may have taken a wrap, at the speed of a real UART.
  const std::uint64_t wraps = bsp_ticks() >> 24;
  check("time goes on when the counter wraps", wrap_is_smooth(slack));
  __asm__ volatile("cpsid i" ::: "memory");
  check("also with interrupts masked", wrap_is_smooth(slack));
  __asm__ volatile("cpsie i" ::: "memory");
  check("no wrap is counted twice", bsp_ticks() >> 24 == wraps + 2);
}

// --- Commands -------------------------------------------------------------------------------------

[[gnu::noinline]] std::uint32_t recurse(std::uint32_t depth) {
  volatile std::uint32_t buffer[64];
  buffer[depth % 64] = depth;
  if (initialised == 0) {
    return 0;  // Never.
  }
  return recurse(depth + 1) + buffer[depth % 64];
}

int run_loop(std::uint32_t count) {
  const std::uint64_t start = bsp_ticks();
  MARK_BEGIN();
  __asm__ volatile(
      ".syntax unified\n"
      "1: subs %0, #1\n"
      "bne 1b\n"
      : "+l"(count)::"cc");
  MARK_END();
  print_field("ticks", bsp_ticks() - start);
  return 0;
}

// In one statement, so that the compiler inserts nothing.
#define BEGIN ".inst.n 0x46c9\n"
#define END ".inst.n 0x46d2\n"
#define NOP "nop\n"

int run_nested() {
  __asm__ volatile(BEGIN NOP NOP BEGIN NOP NOP NOP END NOP BEGIN END END);
  return 0;
}

int run_unfinished() {
  __asm__ volatile(BEGIN BEGIN NOP END);
  return 0;
}

int run_armv7() {
  // udiv r0, r0, r1; as a number, because the assembler would refuse it for a core without it.
  register std::uint32_t dividend __asm__("r0") = 91;
  register std::uint32_t divisor __asm__("r1") = 7;
  __asm__ volatile(".inst.w 0xfbb0f0f1" : "+r"(dividend) : "r"(divisor));
  print_field("quotient", dividend);
  return 0;
}

int run_checksum(const Job& job) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < job.argument; ++i) {
    sum = sum * 31 + job.data[i];
  }
  print_field("checksum", sum);
  return 0;
}

int run(const Job& job) {
  switch (job.command) {
    case Command::kExit:
      return static_cast<int>(job.argument);
    case Command::kFault:
      __asm__ volatile("udf #7");
      return 0;
    case Command::kWildJump:
      reinterpret_cast<void (*)()>(job.argument | 1)();
      return 0;
    case Command::kOverflow:
      return static_cast<int>(recurse(0));
    case Command::kHang:
      print("hanging\n");
      for (;;) {
        __asm__ volatile("");
      }
    case Command::kChecksum:
      return run_checksum(job);
    case Command::kLoop:
      return run_loop(job.argument);
    case Command::kNested:
      return run_nested();
    case Command::kUnfinished:
      return run_unfinished();
    case Command::kLostStack:
      __asm__ volatile("msr msp, %0\n\tudf #7" ::"r"(job.argument));
      return 0;
    case Command::kArmv7:
      return run_armv7();
  }
  print("unknown command\n");
  return 1;
}

}  // namespace

int main() {
  const Job& job = *reinterpret_cast<const Job*>(__mailbox_start);
  if (has_mailbox() && job.magic == kMagic) {
    return run(job);
  }
  print("selftest on ");
  print(bsp_core);
  print(" ");
  print(bsp_isa);
  print(" ");
  print(bsp_board);
  print("\n");
  check_stack();
  check_start_up();
  check_units();
  check_memory();
  check_ticks();
  return failures;
}
