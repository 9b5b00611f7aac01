// Computes results for rules_test.py: reads records of int32 from stdin, each a rule and its 16 arguments, and
// writes a byte for each record.
#include <array>
#include <cstdint>
#include <cstdio>

#include "runtime/kernels/cmsis_nn/rules.h"

namespace rules = cmsis_nn_delegate::cmsis_nn::rules;

int main() {
  std::array<std::int32_t, 17> r;
  while (std::fread(r.data(), sizeof(r), 1, stdin) == 1) {
    bool fits = false;
    switch (r[0]) {
      case 0:
        fits = rules::convolution_fits(r[1] != 0, r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9],
                                       r[10], r[11], r[12], r[13], r[14], r[15], r[16]);
        break;
      case 1:
        fits = rules::depthwise_fits(r[1] != 0, r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9],
                                     r[10], r[11], r[12], r[13], r[14], r[15], r[16]);
        break;
      case 2:
        fits = rules::softmax_fits(r[1]);
        break;
      case 3:
        fits = rules::transpose_conv_fits(r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9],
                                          r[10], r[11], r[12], r[13], r[14], r[15]);
        break;
      default:
        return 1;
    }
    std::putchar(fits ? 1 : 0);
  }
  return 0;
}
