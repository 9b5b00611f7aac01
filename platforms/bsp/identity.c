// What this image is for. The macros come from platforms/cores.bzl.
#include "platforms/bsp/bsp.h"

const char bsp_core[] = BSP_CORE;
const char bsp_isa[] = BSP_ISA;
const char bsp_board[] = BSP_BOARD;
