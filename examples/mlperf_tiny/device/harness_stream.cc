// The commands of streaming wake word: see harness.cc.
//
//   start                begins to listen to the interface board, and pulses the pin that says when it computes
//   stop                 ends that; "target activations:" and, in brackets, each inference's result for the wake word
//   extract_uart_stream  one inference of the samples that `db` has brought: "m-features-[...]", "m-activations-[...]"
#include <cstring>

#include "examples/mlperf_tiny/device/harness_commands.h"
#include "examples/mlperf_tiny/device/streaming_api.h"

const char mlperf_tiny::kCommands[] = " start stop extract_uart_stream";
const bool mlperf_tiny::kVerbose = true;

bool mlperf_tiny::answer(const char* name, Words&) {
  if (std::strcmp(name, "start") == 0) {
    th_start_streaming();
  } else if (std::strcmp(name, "stop") == 0) {
    th_stop_streaming();
  } else if (std::strcmp(name, "extract_uart_stream") == 0) {
    th_extract_features_on_chunk();
  } else {
    return false;
  }
  return true;
}
