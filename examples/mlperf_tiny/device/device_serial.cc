// The part of the device API that all benchmarks share, the UART and the time: see device_api.h.
#include <cstdarg>
#include <cstdint>

#include "examples/mlperf_tiny/device/benchmark.h"
#include "examples/mlperf_tiny/device/device_api.h"
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/serial.h"

namespace {

void write(char byte) {
  const auto data = static_cast<std::uint8_t>(byte);
  bsp_serial_write(&data, 1);
}

void write(const char* text) {
  while (*text != '\0') {
    write(*text++);
  }
}

void write(unsigned long number, unsigned base, unsigned least_digits) {
  char digits[12];
  unsigned count = 0;
  while (number != 0 || count < least_digits) {
    digits[count++] = "0123456789abcdef"[number % base];
    number /= base;
  }
  while (count > 0) {
    write(digits[--count]);
  }
}

}  // namespace

void th_serialport_initialize(void) {}  // start-up has done it
void th_timestamp_initialize(void) {}

void th_timestamp(void) {
  // The clocks of boards are multiples of 1 kHz. The number has 32 bits, as the benchmark has it: 71 minutes.
  const std::uint64_t microseconds = bsp_ticks() * 1000u / (bsp_clock_hz / 1000u);
  th_printf("m-lap-us-%lu\r\n", static_cast<unsigned long>(microseconds));
}

void th_pre() {}
void th_post() {}

char th_getchar() {
  for (;;) {
    const int byte = bsp_serial_read();
    if (byte >= 0) {
      return static_cast<char>(byte);
    }
    mlperf_tiny::idle();
  }
}

void th_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (; *format != '\0'; ++format) {
    if (*format != '%') {
      write(*format);
      continue;
    }
    ++format;
    if (*format == 's') {
      write(va_arg(arguments, const char*));
    } else if (*format == 'c') {
      write(static_cast<char>(va_arg(arguments, int)));
    } else if (*format == 'd') {
      const int number = va_arg(arguments, int);
      write(number < 0 ? "-" : "");
      write(number < 0 ? 0ul - static_cast<unsigned long>(number)
                       : static_cast<unsigned long>(number),
            10, 1);
    } else if (*format == 'u') {
      write(va_arg(arguments, unsigned), 10, 1);
    } else if (*format == 'l') {  // %lu
      ++format;
      write(va_arg(arguments, unsigned long), 10, 1);
    } else if (*format == '0') {  // %02x
      format += 2;
      write(va_arg(arguments, unsigned), 16, 2);
    } else {
      break;  // nobody uses another one
    }
  }
  va_end(arguments);
}
