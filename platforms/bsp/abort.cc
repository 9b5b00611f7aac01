// Ends an image after something that must not happen: a failed ET_CHECK, or a delete, which a heapless
// program never calls.
#include <cstddef>

#include "platforms/bsp/bsp.h"

namespace {

constexpr int kExitAbort = 112;

}  // namespace

// The vtable of every class with a virtual destructor has a deleting destructor. Without these
// definitions it would pull in the library's operator delete, and with it free().
void operator delete(void*) noexcept { bsp_exit(kExitAbort); }
void operator delete(void*, std::size_t) noexcept { bsp_exit(kExitAbort); }

extern "C" void __cxa_pure_virtual() { bsp_exit(kExitAbort); }
extern "C" [[noreturn]] void abort() { bsp_exit(kExitAbort); }
