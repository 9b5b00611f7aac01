// Where assembly finds the members of WindowStrip.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define WINDOW_STRIP_COLUMNS 0
#define WINDOW_STRIP_TABLE 4
#define WINDOW_STRIP_OUTPUT 8
#define WINDOW_STRIP_CHANNELS 12
#define WINDOW_STRIP_GROUPS 16
#define WINDOW_STRIP_OUTPUT_STEP 20
#define WINDOW_STRIP_ZERO_POINT 24
#define WINDOW_STRIP_LEAST 28
#define WINDOW_STRIP_MOST 32
#define WINDOW_STRIP_FORM 36
#define WINDOW_STRIP_MASK 40
#define WINDOW_STRIP_REST 44
#define WINDOW_STRIP_OFFSETS 48
#define WINDOW_STRIP_PLACES 64

#ifndef __ASSEMBLER__

#include "runtime/kernels/depthwise_conv2d/window_vectors.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_COLUMNS, WindowStrip, columns);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_TABLE, WindowStrip, table);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_OUTPUT, WindowStrip, output);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_CHANNELS, WindowStrip, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_GROUPS, WindowStrip, groups);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_OUTPUT_STEP, WindowStrip, output_step);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_ZERO_POINT, WindowStrip, zero_point);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_LEAST, WindowStrip, least);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_MOST, WindowStrip, most);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_FORM, WindowStrip, form);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_MASK, WindowStrip, mask);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_REST, WindowStrip, rest);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_OFFSETS, WindowStrip, offsets);
CMSIS_NN_DELEGATE_MEMBER_AT(WINDOW_STRIP_PLACES, WindowStrip, places);
static_assert(window_vectors::kColumn == 64 && window_vectors::kTable == 24 &&
                  window_vectors::kWeightsAt == 4 && window_vectors::kScalesAt == 16 &&
                  vector_products::kShiftBits == 6,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
