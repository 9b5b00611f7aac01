// What connects the device to the benchmark's interface board besides the UART of the commands: audio over I2S, and
// two pins. audio_shared.cc stands for both in a simulator. On a board, a driver of its I2S receiver (its left
// channel, in two buffers by DMA, say) and of two GPIO pins takes the place of that file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mlperf_tiny {

inline constexpr std::size_t kHop = 512;  ///< samples that are new in each inference, 32 ms

/// Forgets samples that have come and were not taken.
void audio_restart();

/// Returns true once kHop new samples have come, and copies them to `samples`; returns at once. As long as the device
/// does not listen they are taken too, so that none from before its start is heard.
bool audio_take(std::int16_t* samples);

/// What the interface board looks at.
enum class Pin : std::uint8_t {
  kDetected,  ///< pulses if the wake word was heard, and once with the first inference of a signal
  kProcessing,  ///< is high while the device computes
};

/// Sets the level of a pin. The interface board sees edges, that of kDetected when it falls: on a board, a level lasts
/// a microsecond at least.
void audio_set(Pin pin, bool high);

}  // namespace mlperf_tiny
