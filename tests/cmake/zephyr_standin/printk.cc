#include <zephyr/sys/printk.h>

#include <cstdarg>
#include <cstddef>

#include "platforms/bsp/bsp.h"

namespace {

void put_hex(unsigned value, int digits) {
  if (digits > 1 || value > 15) {
    put_hex(value >> 4, digits - 1);
  }
  bsp_write(&"0123456789abcdef"[value & 15], 1);
}

}  // namespace

void printk(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  for (const char* at = format; *at != '\0'; ++at) {
    if (*at != '%') {
      bsp_write(at, 1);
      continue;
    }
    int digits = 1;
    for (++at; *at != 'x' && *at != '\0'; ++at) {
      digits = *at - '0';
    }
    put_hex(va_arg(arguments, unsigned), digits);
  }
  va_end(arguments);
}
