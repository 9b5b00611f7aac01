// Where assembly finds the members of ColumnBand and ColumnRows.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define COLUMN_BAND_PLANES 0
#define COLUMN_BAND_TABLE 4
#define COLUMN_BAND_OUTPUT 8
#define COLUMN_BAND_CHANNELS 12
#define COLUMN_BAND_GROUPS 16
#define COLUMN_BAND_PLANE_BYTES 20
#define COLUMN_BAND_OUTPUT_STEP 24
#define COLUMN_BAND_ZERO_POINT 28
#define COLUMN_BAND_LEAST 32
#define COLUMN_BAND_MOST 36
#define COLUMN_BAND_FORM 40
#define COLUMN_BAND_MASK 44
#define COLUMN_BAND_LAST 48
#define COLUMN_BAND_OFFSETS 52

#define COLUMN_ROWS_PLANES 0
#define COLUMN_ROWS_PLANE_BYTES 4
#define COLUMN_ROWS_VECTORS 8
#define COLUMN_ROWS_ROWS 12
#define COLUMN_ROWS_STEPS 20
#define COLUMN_ROWS_LEFT 28
#define COLUMN_ROWS_INSIDE 32
#define COLUMN_ROWS_RIGHT 36
#define COLUMN_ROWS_CHANNELS 40
#define COLUMN_ROWS_PADDING 44

#ifndef __ASSEMBLER__

#include "runtime/kernels/depthwise_conv2d/channel_columns.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_PLANES, ColumnBand, planes);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_TABLE, ColumnBand, table);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_OUTPUT, ColumnBand, output);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_CHANNELS, ColumnBand, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_GROUPS, ColumnBand, groups);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_PLANE_BYTES, ColumnBand, plane_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_OUTPUT_STEP, ColumnBand, output_step);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_ZERO_POINT, ColumnBand, zero_point);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_LEAST, ColumnBand, least);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_MOST, ColumnBand, most);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_FORM, ColumnBand, form);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_MASK, ColumnBand, mask);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_LAST, ColumnBand, last);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_BAND_OFFSETS, ColumnBand, offsets);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_ROWS_PLANES, ColumnRows, planes);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_ROWS_PLANE_BYTES, ColumnRows, plane_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_ROWS_VECTORS, ColumnRows, vectors);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_ROWS_ROWS, ColumnRows, rows);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_ROWS_STEPS, ColumnRows, steps);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_ROWS_LEFT, ColumnRows, left);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_ROWS_INSIDE, ColumnRows, inside);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_ROWS_RIGHT, ColumnRows, right);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_ROWS_CHANNELS, ColumnRows, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(COLUMN_ROWS_PADDING, ColumnRows, padding);
static_assert(channel_columns::kRows == 6 && channel_columns::kTaps == 5 &&
                  channel_columns::kTable == 44 && channel_columns::kWeightsAt == 3 &&
                  channel_columns::kScalesAt == 36 && channel_columns::kRead == 2 &&
                  vector_products::kShiftBits == 6,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
