// The core that this image was built for. The macros come from platforms/cores.bzl; board.c has the board.
#include "platforms/bsp/bsp.h"

// Kept in every image: simulator drivers read from it which board to start.
#define IDENTITY __attribute__((section(".identity"), used))

IDENTITY const char bsp_core[] = BSP_CORE;
IDENTITY const char bsp_isa[] = BSP_ISA;
