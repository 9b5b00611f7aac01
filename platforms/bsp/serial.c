// See serial.h.
#include "platforms/bsp/serial.h"

#include "platforms/bsp/scs.h"

#include BSP_UART_HEADER

void bsp_serial_write(const uint8_t* data, size_t size) {
  start();
  for (size_t i = 0; i < size; ++i) {
    put((char)data[i]);
  }
}

int bsp_serial_read(void) {
  start();
  return get();
}

void bsp_reset(void) {
  __asm__ volatile("dsb" ::: "memory");
  AIRCR = AIRCR_VECTKEY | AIRCR_SYSRESETREQ;
  for (;;) {
    __asm__ volatile("dsb" ::: "memory");
  }
}
