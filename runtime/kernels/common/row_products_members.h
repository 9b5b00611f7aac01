// Where assembly finds the members of RowProducts.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define ROW_PRODUCTS_INPUT 0
#define ROW_PRODUCTS_INPUT_END 4
#define ROW_PRODUCTS_REST 8
#define ROW_PRODUCTS_REST_END 12
#define ROW_PRODUCTS_TABLE 16
#define ROW_PRODUCTS_OUTPUT 20
#define ROW_PRODUCTS_CHANNELS 24
#define ROW_PRODUCTS_FORM 28
#define ROW_PRODUCTS_SCALES 32
#define ROW_PRODUCTS_SCALE_BYTES 36
#define ROW_PRODUCTS_LEAST 40
#define ROW_PRODUCTS_MOST 44

#ifndef __ASSEMBLER__

#include "runtime/kernels/common/row_products.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_INPUT, RowProducts, input);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_INPUT_END, RowProducts, input_end);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_REST, RowProducts, rest);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_REST_END, RowProducts, rest_end);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_TABLE, RowProducts, table);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_OUTPUT, RowProducts, output);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_CHANNELS, RowProducts, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_FORM, RowProducts, form);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_SCALES, RowProducts, scales);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_SCALE_BYTES, RowProducts, scale_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_LEAST, RowProducts, least);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_MOST, RowProducts, most);
// int16 has the same members.
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_OUTPUT, RowProductsOf<std::int16_t>, output);
CMSIS_NN_DELEGATE_MEMBER_AT(ROW_PRODUCTS_MOST, RowProductsOf<std::int16_t>, most);
static_assert(PlainRowProducts::kBlock == 8 && RowScale::kWords == 2 &&
                  pair_products::kFloorBits == 12,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
