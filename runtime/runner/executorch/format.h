// The part of snprintf() that ExecuTorch's runtime uses. The C library's snprintf() would bring in
// the heap.
#pragma once

#include <cstdarg>
#include <cstddef>

namespace cmsis_nn_delegate::runner {

/// Works like vsnprintf() for %s, %d, %u, %x, %c and %%; integers may have h, l or z. It copies any
/// other conversion as text and converts nothing after it, because the type of that argument is
/// unknown. Returns the length of the whole text.
int format(char* buffer, std::size_t size, const char* text, std::va_list arguments);

}  // namespace cmsis_nn_delegate::runner
