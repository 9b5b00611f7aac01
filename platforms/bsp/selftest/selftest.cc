// Firmware that tests the board support, the toolchain's settings and the simulator.
//
// The job is 16 bytes: magic "TEST", command, argument, 0 (little-endian words), then data. Without one
// it runs every check that ends by itself: exit code 0, or the number of checks that failed.
#include <cstdint>

#include "platforms/bsp/bsp.h"
#include "platforms/bsp/mark.h"

#if defined(__ARM_FEATURE_MVE)
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
};

struct Job {
  std::uint32_t magic;
  Command command;
  std::uint32_t argument;
  std::uint32_t reserved;
  unsigned char data[];
};

void Print(const char* text) {
  std::size_t size = 0;
  while (text[size] != '\0') ++size;
  bsp_write(text, size);
}

void Print(std::uint64_t value) {
  char digits[20];
  std::size_t first = sizeof digits;
  do {
    digits[--first] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  bsp_write(digits + first, sizeof digits - first);
}

void PrintField(const char* name, std::uint64_t value) {
  Print(name);
  Print("=");
  Print(value);
  Print("\n");
}

int failures = 0;

void Check(const char* what, bool ok) {
  Print(ok ? "ok " : "FAILED ");
  Print(what);
  Print("\n");
  failures += !ok;
}

// --- Start-up -------------------------------------------------------------------------------------

volatile std::uint32_t initialised = 0x12345678;
volatile std::uint32_t zeroed;
volatile bool constructed;

[[gnu::constructor]] void Construct() { constructed = zeroed == 0; }

void CheckStartUp() {
  Check(".data is copied", initialised == 0x12345678);
  Check(".bss is zeroed", zeroed == 0);
  Check(".init_array runs", constructed);
}

// --- Arithmetic units -----------------------------------------------------------------------------

void CheckUnits() {
  volatile float x = 1.5f;
  Check("float arithmetic", x * 2.25f == 3.375f);
  // With fused multiply-add the rounding error of the product would be left over.
  volatile float y = 1.0f + 0x1p-12f;
  const float product = y * y;
  Check("products are rounded before they are added", y * y - product == 0.0f);
#if defined(__ARM_FEATURE_MVE)
  Check("compiled for mve", bsp_isa[0] == 'm');
  const int8x16_t lanes = vaddq_n_s8(vdupq_n_s8(3), 4);
  Check("vector arithmetic", vaddvq_s8(lanes) == 16 * 7);
#elif defined(__ARM_FEATURE_DSP)
  Check("compiled for dsp", bsp_isa[0] == 'd');
#else
  Check("compiled for scalar", bsp_isa[0] == 's');
#endif
}

// --- Memory ---------------------------------------------------------------------------------------

void CheckMemory() {
  const auto start = reinterpret_cast<std::uintptr_t>(__arena_start);
  const auto end = reinterpret_cast<std::uintptr_t>(__arena_end);
  const auto mailbox = reinterpret_cast<std::uintptr_t>(__mailbox_start);
  Check("the arena is aligned", start % 16 == 0 && end % 16 == 0);
  Check("the mailbox is aligned", mailbox % 16 == 0);
  Check("the mailbox holds 8 MiB",
        reinterpret_cast<std::uintptr_t>(__mailbox_end) - mailbox >= 8 << 20);
  auto* const first = reinterpret_cast<volatile unsigned char*>(start);
  auto* const last = reinterpret_cast<volatile unsigned char*>(end - 1);
  *first = 0x5a;
  *last = 0xa5;
  Check("the arena is memory", *first == 0x5a && *last == 0xa5);
}

[[gnu::noinline]] void UseStack() {
  volatile unsigned char buffer[2000];
  for (std::size_t i = 0; i < sizeof buffer; ++i) buffer[i] = static_cast<unsigned char>(i);
}

void CheckStack() {
  const std::size_t before = bsp_stack_high_water();
  const std::size_t again = bsp_stack_high_water();
  UseStack();
  const std::size_t after = bsp_stack_high_water();
  Check("a little stack was used", before > 32 && before < 1000);
  Check("asking for it uses none", again == before);
  PrintField("stack", after);
  Check("2000 bytes more were used", after >= 2000 && after < before + 2100);
}

// --- Time -----------------------------------------------------------------------------------------

// Executes 2 * `count` instructions and the return.
[[gnu::noinline]] void Spin(std::uint32_t count) {
  __asm__ volatile(
      ".syntax unified\n"
      "1: subs %0, #1\n"
      "bne 1b\n"
      : "+l"(count)::"cc");
}

// Reads the time from shortly before until after the next wrap of the 24-bit counter. True if it never
// decreased and never advanced by more than a few calls can take.
bool WrapIsSmooth() {
  constexpr std::uint64_t kPeriod = 1u << 24;
  const std::uint64_t wrap = (bsp_ticks() / kPeriod + 1) * kPeriod;
  while (bsp_ticks() < wrap - 200) {
    const std::uint64_t left = wrap - 200 - bsp_ticks();
    Spin(static_cast<std::uint32_t>(left * 8 +
                                    1));  // Fewer instructions than a tick has on any board.
  }
  std::uint64_t last = bsp_ticks();
  while (last < wrap + 200) {
    const std::uint64_t now = bsp_ticks();
    if (now < last || now - last > 10) return false;
    last = now;
  }
  return true;
}

void CheckTicks() {
  const std::uint64_t start = bsp_ticks();
  Spin(100000);
  const std::uint64_t once = bsp_ticks() - start;
  Spin(200000);
  const std::uint64_t thrice = bsp_ticks() - start;
  Check("time is proportional to work",
        once > 0 && thrice >= 3 * once - 3 && thrice <= 3 * once + 3);
  Check("time goes on when the counter wraps", WrapIsSmooth());
  __asm__ volatile("cpsid i" ::: "memory");
  Check("also with interrupts masked", WrapIsSmooth());
  __asm__ volatile("cpsie i" ::: "memory");
  Check("no wrap is counted twice", bsp_ticks() >> 24 == 2);
}

// --- Commands -------------------------------------------------------------------------------------

[[gnu::noinline]] std::uint32_t Recurse(std::uint32_t depth) {
  volatile std::uint32_t buffer[64];
  buffer[depth % 64] = depth;
  if (initialised == 0) return 0;  // Never.
  return Recurse(depth + 1) + buffer[depth % 64];
}

int RunLoop(std::uint32_t count) {
  const std::uint64_t start = bsp_ticks();
  MARK_BEGIN();
  __asm__ volatile(
      ".syntax unified\n"
      "1: subs %0, #1\n"
      "bne 1b\n"
      : "+l"(count)::"cc");
  MARK_END();
  PrintField("ticks", bsp_ticks() - start);
  return 0;
}

// In one statement, so that the compiler puts nothing between.
#define BEGIN ".inst.n 0x46c9\n"
#define END ".inst.n 0x46d2\n"
#define NOP "nop\n"

int RunNested() {
  __asm__ volatile(BEGIN NOP NOP BEGIN NOP NOP NOP END NOP BEGIN END END);
  return 0;
}

int RunUnfinished() {
  __asm__ volatile(BEGIN BEGIN NOP END);
  return 0;
}

int RunChecksum(const Job& job) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < job.argument; ++i) sum = sum * 31 + job.data[i];
  PrintField("checksum", sum);
  return 0;
}

int Run(const Job& job) {
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
      return static_cast<int>(Recurse(0));
    case Command::kHang:
      Print("hanging\n");
      for (;;) __asm__ volatile("");
    case Command::kChecksum:
      return RunChecksum(job);
    case Command::kLoop:
      return RunLoop(job.argument);
    case Command::kNested:
      return RunNested();
    case Command::kUnfinished:
      return RunUnfinished();
    case Command::kLostStack:
      __asm__ volatile("msr msp, %0\n\tudf #7" ::"r"(job.argument));
      return 0;
  }
  Print("unknown command\n");
  return 1;
}

}  // namespace

int main() {
  const Job& job = *reinterpret_cast<const Job*>(__mailbox_start);
  if (job.magic == kMagic) return Run(job);
  Print("selftest on ");
  Print(bsp_core);
  Print(" ");
  Print(bsp_isa);
  Print(" ");
  Print(bsp_board);
  Print("\n");
  CheckStack();
  CheckStartUp();
  CheckUnits();
  CheckMemory();
  CheckTicks();
  return failures;
}
