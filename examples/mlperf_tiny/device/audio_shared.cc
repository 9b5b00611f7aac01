// Stands for the wires between the device and the interface board in a simulator, which has no I2S and no pins:
// memory that the image shares with interface_board.py, as with a DMA controller. It begins at __mailbox_start. See
// audio.h.
#include <cstddef>
#include <cstdint>

#include "examples/mlperf_tiny/device/audio.h"
#include "platforms/bsp/bsp.h"

namespace {

constexpr std::uint32_t kSamples = 8192;
constexpr std::uint32_t kEdges = 1024;

struct Edge {
  std::uint32_t what;  ///< 2 * the pin + its new level
  std::uint32_t microseconds;
};

/// The counters are those since the start, modulo 2^32; each has one who writes it. Rings: number n is at n modulo
/// the size.
struct Shared {
  std::uint32_t sent;   ///< samples, by the interface board
  std::uint32_t taken;  ///< samples, by the image
  std::uint32_t edges;  ///< by the image
  std::uint32_t seen;   ///< edges, by the interface board
  std::int16_t samples[kSamples];
  Edge edge[kEdges];
};

volatile Shared& shared() { return *reinterpret_cast<volatile Shared*>(__mailbox_start); }

}  // namespace

void mlperf_tiny::audio_restart() { shared().taken = shared().sent; }

bool mlperf_tiny::audio_take(std::int16_t* samples) {
  volatile Shared& wires = shared();
  const std::uint32_t taken = wires.taken;
  if (wires.sent - taken < kHop) {
    return false;
  }
  for (std::size_t i = 0; i < kHop; ++i) {
    samples[i] = wires.samples[(taken + i) % kSamples];
  }
  wires.taken = taken + kHop;
  return true;
}

void mlperf_tiny::audio_set(Pin pin, bool high) {
  volatile Shared& wires = shared();
  const std::uint32_t edges = wires.edges;
  if (edges - wires.seen == kEdges) {
    return;  // nobody looks
  }
  wires.edge[edges % kEdges].what = 2 * static_cast<std::uint32_t>(pin) + (high ? 1u : 0u);
  wires.edge[edges % kEdges].microseconds =
      static_cast<std::uint32_t>(bsp_ticks() * 1000u / (bsp_clock_hz / 1000u));
  wires.edges = edges + 1;
}
