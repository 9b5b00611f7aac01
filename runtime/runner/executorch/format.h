// The part of snprintf() that ExecuTorch's runtime uses, without the C library's, which brings the
// heap.
#pragma once

#include <cstdarg>
#include <cstddef>

namespace cmsis_nn_delegate {
namespace runner {

/// As vsnprintf() for %s, %d, %u, %x, %c and %%, the integers also with h, l or z; any other
/// conversion is copied as it stands, and ends the conversions, since its argument's type is not
/// known. Returns the length of the whole text.
int format(char* buffer, std::size_t size, const char* text, std::va_list arguments);

}  // namespace runner
}  // namespace cmsis_nn_delegate
