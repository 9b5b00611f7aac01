// Says what kernels are compiled for, as optimization.bzl chooses.
#include "platforms/bsp/bsp.h"

int main(void) {
#ifdef __OPTIMIZE_SIZE__
  bsp_write("for size\n", 9);
#else
  bsp_write("for speed\n", 10);
#endif
  return 0;
}
