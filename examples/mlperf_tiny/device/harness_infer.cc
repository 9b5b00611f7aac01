// The commands of the benchmarks that compute one inference after the other: see harness.cc.
//
//   infer COUNT [WARMUP]  computes WARMUP inferences (10 by default), and COUNT between two time stamps; then results
//   results               "m-results-[NUMBER,...]"
#include <cstring>

#include "examples/mlperf_tiny/device/device_api.h"
#include "examples/mlperf_tiny/device/harness_commands.h"

namespace {

constexpr unsigned kDefaultWarmup = 10;

void infer(mlperf_tiny::Words& words) {
  unsigned count = 1;
  unsigned warmup = kDefaultWarmup;
  const char* word = words.next();
  if (word != nullptr && (!mlperf_tiny::read(word, count) || count == 0)) {
    th_printf("e-[Inference iterations must be >0]\r\n");
    return;
  }
  word = word == nullptr ? nullptr : words.next();
  if (word != nullptr && !mlperf_tiny::read(word, warmup)) {
    th_printf("e-[Inference warmup must be >=0]\r\n");
    return;
  }
  th_load_tensor();
  th_printf("m-warmup-start-%u\r\n", warmup);
  for (unsigned i = 0; i < warmup; ++i) {
    th_infer();
  }
  th_printf("m-warmup-done\r\n");
  th_printf("m-infer-start-%u\r\n", count);
  th_timestamp();
  th_pre();
  for (unsigned i = 0; i < count; ++i) {
    th_infer();
  }
  th_post();
  th_timestamp();
  th_printf("m-infer-done\r\n");
  th_results();
}

}  // namespace

const char mlperf_tiny::kCommands[] = " infer results";
const bool mlperf_tiny::kVerbose = false;

bool mlperf_tiny::answer(const char* name, Words& words) {
  if (std::strcmp(name, "infer") == 0) {
    infer(words);
  } else if (std::strcmp(name, "results") == 0) {
    th_results();
  } else {
    return false;
  }
  return true;
}
