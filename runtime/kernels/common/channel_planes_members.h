// Where assembly finds the members of PlaneRow and PlaneRows.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define PLANE_ROW_PIXEL_BYTES 0
#define PLANE_ROW_CHANNEL_BYTES 4
#define PLANE_ROW_PADDING 8
#define PLANE_ROW_FIRST 12
#define PLANE_ROW_PAIRS 16
#define PLANE_ROW_LAST 20

#define PLANE_ROWS_PLANES 0
#define PLANE_ROWS_OUTPUT 4
#define PLANE_ROWS_TABLE 8
#define PLANE_ROWS_CHANNELS 12
#define PLANE_ROWS_COLUMN_BYTES 16
#define PLANE_ROWS_ROW_BYTES 20
#define PLANE_ROWS_PAIRS_BYTES 24
#define PLANE_ROWS_LAST 28
#define PLANE_ROWS_LIMITED 32
#define PLANE_ROWS_LEAST 36
#define PLANE_ROWS_MOST 40
#define PLANE_ROWS_HALF_STEPS 44
#define PLANE_ROWS_BYTES 48

// Bytes from a plane to that of the next channel, and from a column to the next one, with strides 1 and 2.
#define CHANNEL_PLANES_CHANNEL1 16
#define CHANNEL_PLANES_CHANNEL2 20
#define CHANNEL_PLANES_COLUMN1 64
#define CHANNEL_PLANES_COLUMN2 80

#ifdef __ASSEMBLER__

// Set in the byte with the shift of a channel of form FLOOR, and in the word at SHIFT; shifts take its lowest 8 bits.
#define FLOOR 32
#define FLOOR_SHIFT 256

#else

#include "runtime/kernels/common/channel_planes.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROW_PIXEL_BYTES, PlaneRow, pixel_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROW_CHANNEL_BYTES, PlaneRow, channel_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROW_PADDING, PlaneRow, padding);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROW_FIRST, PlaneRow, first);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROW_PAIRS, PlaneRow, pairs);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROW_LAST, PlaneRow, last);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_PLANES, PlaneRows, planes);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_OUTPUT, PlaneRows, output);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_TABLE, PlaneRows, table);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_CHANNELS, PlaneRows, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_COLUMN_BYTES, PlaneRows, column_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_ROW_BYTES, PlaneRows, row_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_PAIRS_BYTES, PlaneRows, pairs_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_LAST, PlaneRows, last);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_LIMITED, PlaneRows, limited);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_LEAST, PlaneRows, least);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_MOST, PlaneRows, most);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_HALF_STEPS, PlaneRows, half_steps);
static_assert(sizeof(void*) != 4 || sizeof(PlaneRows) == PLANE_ROWS_BYTES,
              "assembly copies all members");
// int16 has the same members.
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_OUTPUT, PlaneRowsOf<std::int16_t>, output);
CMSIS_NN_DELEGATE_MEMBER_AT(PLANE_ROWS_HALF_STEPS, PlaneRowsOf<std::int16_t>, half_steps);
static_assert(channel_planes::rows(1) * 4 == CHANNEL_PLANES_CHANNEL1, "assembly has another size");
static_assert(channel_planes::rows(2) * 4 == CHANNEL_PLANES_CHANNEL2, "assembly has another size");
static_assert(channel_planes::kChannels * channel_planes::rows(1) * 4 == CHANNEL_PLANES_COLUMN1,
              "assembly has another size");
static_assert(channel_planes::kChannels * channel_planes::rows(2) * 4 == CHANNEL_PLANES_COLUMN2,
              "assembly has another size");
static_assert(channel_planes::kWords == 5 && pair_products::kFloorBits == 12,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
