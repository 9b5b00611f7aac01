// Where assembly finds the members of RoundedProduct.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define ROUNDED_PRODUCT_OFFSET1 0
#define ROUNDED_PRODUCT_OFFSET2 4
#define ROUNDED_PRODUCT_MULTIPLIER 8
#define ROUNDED_PRODUCT_UNIT 12
#define ROUNDED_PRODUCT_OUTPUT_OFFSET 16
#define ROUNDED_PRODUCT_LIMITED 20
#define ROUNDED_PRODUCT_LEAST 24
#define ROUNDED_PRODUCT_MOST 28

#ifndef __ASSEMBLER__

#include "runtime/kernels/mul/mul_rounded.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(ROUNDED_PRODUCT_OFFSET1, RoundedProduct, offset1);
CMSIS_NN_DELEGATE_MEMBER_AT(ROUNDED_PRODUCT_OFFSET2, RoundedProduct, offset2);
CMSIS_NN_DELEGATE_MEMBER_AT(ROUNDED_PRODUCT_MULTIPLIER, RoundedProduct, multiplier);
CMSIS_NN_DELEGATE_MEMBER_AT(ROUNDED_PRODUCT_UNIT, RoundedProduct, unit);
CMSIS_NN_DELEGATE_MEMBER_AT(ROUNDED_PRODUCT_OUTPUT_OFFSET, RoundedProduct, output_offset);
CMSIS_NN_DELEGATE_MEMBER_AT(ROUNDED_PRODUCT_LIMITED, RoundedProduct, limited);
CMSIS_NN_DELEGATE_MEMBER_AT(ROUNDED_PRODUCT_LEAST, RoundedProduct, least);
CMSIS_NN_DELEGATE_MEMBER_AT(ROUNDED_PRODUCT_MOST, RoundedProduct, most);

}  // namespace cmsis_nn_delegate::portable

#endif
