// Where assembly finds the members of VectorProducts.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define VECTOR_PRODUCTS_WINDOWS 0
#define VECTOR_PRODUCTS_TABLE 16
#define VECTOR_PRODUCTS_OUTPUT 20
#define VECTOR_PRODUCTS_CHANNELS 24
#define VECTOR_PRODUCTS_VECTORS 28
#define VECTOR_PRODUCTS_WINDOWS_STEP 32
#define VECTOR_PRODUCTS_GROUPS 36
#define VECTOR_PRODUCTS_ZERO_POINT 40
#define VECTOR_PRODUCTS_LEAST 44
#define VECTOR_PRODUCTS_MOST 48
#define VECTOR_PRODUCTS_FORM 52
#define VECTOR_PRODUCTS_OFFSETS 56

// Bytes of a vector.
#define VECTOR_PRODUCTS_VECTOR 16

#ifndef __ASSEMBLER__

#include "runtime/kernels/common/vector_products.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_WINDOWS, VectorProducts, windows);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_TABLE, VectorProducts, table);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_OUTPUT, VectorProducts, output);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_CHANNELS, VectorProducts, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_VECTORS, VectorProducts, vectors);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_WINDOWS_STEP, VectorProducts, windows_step);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_GROUPS, VectorProducts, groups);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_ZERO_POINT, VectorProducts, zero_point);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_LEAST, VectorProducts, least);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_MOST, VectorProducts, most);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_FORM, VectorProducts, form);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_OFFSETS, VectorProducts, offsets);
// int16 has the same members, and vectors of as many bytes.
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_OUTPUT, VectorProductsOf<std::int16_t>, output);
CMSIS_NN_DELEGATE_MEMBER_AT(VECTOR_PRODUCTS_OFFSETS, VectorProductsOf<std::int16_t>, offsets);
static_assert(vector_products::kVector == VECTOR_PRODUCTS_VECTOR, "assembly has another size");
static_assert(vector_products::kWindows == 4 && vector_products::kChannels == 2,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
