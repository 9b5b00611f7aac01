// The end of an image in which something impossible happened: a failed ET_CHECK, or a delete,
// which a heapless program does not have.
#include <cstddef>

#include "platforms/bsp/bsp.h"

namespace {

constexpr int kExitAbort = 112;

}  // namespace

// A deleting destructor is in the vtable of every class with a virtual destructor. Without
// these definitions it would bring in the library's operator delete, and with it free().
void operator delete(void*) noexcept { bsp_exit(kExitAbort); }
void operator delete(void*, std::size_t) noexcept { bsp_exit(kExitAbort); }

extern "C" void __cxa_pure_virtual() { bsp_exit(kExitAbort); }
extern "C" [[noreturn]] void abort() { bsp_exit(kExitAbort); }
