// See serial.h. Empty where the driver has no receiver.
#include "platforms/bsp/serial.h"

#include "platforms/bsp/scs.h"

#include BSP_UART_HEADER

#ifdef BSP_UART_RECEIVES

// Once after a reset: a driver may set up the UART anew each time. Not a bool, because memory has any value before .bss is
// zeroed, and faults are reported then too.
static void start_once(void) {
  static uint32_t started;
  static const uint32_t kStarted = 0x53544152;
  if (started != kStarted) {
    start();
    started = kStarted;
  }
}

void bsp_serial_write(const uint8_t* data, size_t size) {
  start_once();
  for (size_t i = 0; i < size; ++i) {
    put((char)data[i]);
  }
}

int bsp_serial_read(void) {
  start_once();
  return get();
}

void bsp_restart(void) {
  __asm__ volatile("dsb" ::: "memory");
  AIRCR = AIRCR_VECTKEY | AIRCR_SYSRESETREQ;
  for (;;) {
    __asm__ volatile("dsb" ::: "memory");
  }
}

#endif
