// Where assembly finds the members of ChannelRow.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define CHANNEL_ROW_WINDOW 0
#define CHANNEL_ROW_OUTPUT 4
#define CHANNEL_ROW_TABLE 8
#define CHANNEL_ROW_FIRST 12
#define CHANNEL_ROW_CHANNELS 16
#define CHANNEL_ROW_OUTPUTS 20
#define CHANNEL_ROW_COLUMN_BYTES 24
#define CHANNEL_ROW_LEAST 28
#define CHANNEL_ROW_MOST 32
#define CHANNEL_ROW_LIMITED 36

// Bytes of a record, to its second and third row and to the room for a sum; then bytes of the table of a channel.
#define CHANNEL_ROWS_COLUMN 20
#define CHANNEL_ROWS_SECOND 4
#define CHANNEL_ROWS_THIRD 8
#define CHANNEL_ROWS_SUM 12
#define CHANNEL_ROWS_START 12
#define CHANNEL_ROWS_SPAN 16
#define CHANNEL_ROWS_FACTOR 20
#define CHANNEL_ROWS_CONSTANT 24

#ifndef __ASSEMBLER__

#include "runtime/kernels/depthwise_conv2d/channel_rows.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_ROW_WINDOW, ChannelRow, window);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_ROW_OUTPUT, ChannelRow, output);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_ROW_TABLE, ChannelRow, table);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_ROW_FIRST, ChannelRow, first);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_ROW_CHANNELS, ChannelRow, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_ROW_OUTPUTS, ChannelRow, outputs);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_ROW_COLUMN_BYTES, ChannelRow, column_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_ROW_LEAST, ChannelRow, least);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_ROW_MOST, ChannelRow, most);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_ROW_LIMITED, ChannelRow, limited);
static_assert(channel_rows::kColumnBytes == CHANNEL_ROWS_COLUMN, "assembly has another size");
static_assert(channel_rows::kRowBytes == CHANNEL_ROWS_SECOND, "assembly has another size");
static_assert(2 * channel_rows::kRowBytes == CHANNEL_ROWS_THIRD, "assembly has another size");
static_assert(3 * channel_rows::kRowBytes == CHANNEL_ROWS_SUM, "assembly has another size");
static_assert(channel_rows::kStart * 4 == CHANNEL_ROWS_START, "assembly has another size");
static_assert(channel_rows::kScale * 4 == CHANNEL_ROWS_SPAN, "assembly has another size");
static_assert((channel_rows::kScale + 1) * 4 == CHANNEL_ROWS_FACTOR, "assembly has another size");
static_assert((channel_rows::kScale + 2) * 4 == CHANNEL_ROWS_CONSTANT, "assembly has another size");

}  // namespace cmsis_nn_delegate::portable

#endif
