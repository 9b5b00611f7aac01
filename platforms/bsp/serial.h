// The board's UART in both directions, and reset, for firmware that somebody at the other end controls. C linkage.
//
// A driver (uart_<type>.h) then also defines the macro BSP_UART_RECEIVES and `get`, which returns the next byte that the UART has received, or -1 if
// there is none, and its `start` switches on the receiver too. `get` clears the flags of overrun, framing and noise errors,
// with which some UARTs receive nothing more: bytes come while the firmware computes and fetches none.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Writes `size` bytes to the UART as they are; returns once it has accepted the last one.
void bsp_serial_write(const uint8_t* data, size_t size);

/// Returns the next byte that the UART has received, 0 to 255, or -1 if there is none. The UART keeps few bytes (one
/// on most boards): those that nobody fetches in time are lost.
int bsp_serial_read(void);

/// Resets the core and the board, as at power-on; memory outside of .data and .bss stays as it is on most boards.
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void bsp_restart(void);

#ifdef __cplusplus
}  // extern "C"
#endif
