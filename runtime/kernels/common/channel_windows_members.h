// Where assembly finds the members of ChannelWindowsOf.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define CHANNEL_WINDOWS_ROWS 0
#define CHANNEL_WINDOWS_END 4
#define CHANNEL_WINDOWS_TABLE 8
#define CHANNEL_WINDOWS_OUTPUT 12
#define CHANNEL_WINDOWS_CHANNELS 16
#define CHANNEL_WINDOWS_OUTPUTS 20
#define CHANNEL_WINDOWS_LEAST 24
#define CHANNEL_WINDOWS_MOST 28
#define CHANNEL_WINDOWS_FORM 32
#define CHANNEL_WINDOWS_RING_BYTES 36
#define CHANNEL_WINDOWS_TAPS_HIGH 40
#define CHANNEL_WINDOWS_TAPS_WIDE 44
#define CHANNEL_WINDOWS_WINDOW_BYTES 48
#define CHANNEL_WINDOWS_COLUMN_BYTES 52
#define CHANNEL_WINDOWS_ROW_BYTES 56
#define CHANNEL_WINDOWS_ZERO_POINT 60

#ifndef __ASSEMBLER__

#include "runtime/kernels/common/channel_windows.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_ROWS, ChannelWindowsOf<std::int8_t>, rows);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_END, ChannelWindowsOf<std::int8_t>, end);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_TABLE, ChannelWindowsOf<std::int8_t>, table);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_OUTPUT, ChannelWindowsOf<std::int8_t>, output);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_CHANNELS, ChannelWindowsOf<std::int8_t>, channels);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_OUTPUTS, ChannelWindowsOf<std::int8_t>, outputs);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_LEAST, ChannelWindowsOf<std::int8_t>, least);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_MOST, ChannelWindowsOf<std::int8_t>, most);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_FORM, ChannelWindowsOf<std::int8_t>, form);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_RING_BYTES, ChannelWindowsOf<std::int8_t>, ring_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_TAPS_HIGH, ChannelWindowsOf<std::int8_t>, taps_high);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_TAPS_WIDE, ChannelWindowsOf<std::int8_t>, taps_wide);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_WINDOW_BYTES, ChannelWindowsOf<std::int8_t>,
                            window_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_COLUMN_BYTES, ChannelWindowsOf<std::int8_t>,
                            column_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_ROW_BYTES, ChannelWindowsOf<std::int8_t>, row_bytes);
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_ZERO_POINT, ChannelWindowsOf<std::int8_t>, zero_point);
// int16 has the same members.
CMSIS_NN_DELEGATE_MEMBER_AT(CHANNEL_WINDOWS_ZERO_POINT, ChannelWindowsOf<std::int16_t>, zero_point);
static_assert(channel_windows::kChannels == 8, "assembly has this size in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
