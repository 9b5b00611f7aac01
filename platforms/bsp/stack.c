// Stack painting and the high-water mark.
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/internal.h"

// Neither a small integer nor an address on these boards.
#define PATTERN 0xA5C3E17Bu

// The frames of the caller and of this function are above the painted part.
void bsp_stack_paint(void) {
  volatile uint32_t* const end = (volatile uint32_t*)__builtin_frame_address(0) - 16;
  for (volatile uint32_t* word = __stack_bottom; word < end; ++word) {
    *word = PATTERN;
  }
}

size_t bsp_stack_high_water(void) {
  const volatile uint32_t* word = __stack_bottom;
  while (word < __stack_top && *word == PATTERN) {
    ++word;
  }
  return (size_t)((const volatile uint32_t*)__stack_top - word) * sizeof(*word);
}
