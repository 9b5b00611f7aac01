// The board that this image was linked for; the name comes from the board's description.
#include "platforms/bsp/bsp.h"

// Kept in every image: simulator drivers read from it which board to start.
__attribute__((section(".identity"), used)) const char bsp_board[] = BSP_BOARD;

const uint32_t bsp_clock_hz = BSP_CLOCK_HZ;
