// What this image was built for. The macros come from platforms/cores.bzl and the board's description.
#include "platforms/bsp/bsp.h"

// Kept in every image: simulator drivers read from it which board to start.
#define IDENTITY __attribute__((section(".identity"), used))

IDENTITY const char bsp_core[] = BSP_CORE;
IDENTITY const char bsp_isa[] = BSP_ISA;
IDENTITY const char bsp_board[] = BSP_BOARD;
