// Writes a payload that has every operator once, its input, and the outputs that the portable
// kernels compute on this machine. The firmware must print the same outputs.
//
//   write_sample ISA PAYLOAD INPUT OUTPUTS      ISA as a number
//
// OUTPUTS holds the int8 scores (5 bytes), then the float logits (20 bytes).
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/crc32.h"
#include "runtime/payload/view.h"
#include "tests/payloads/payload_builder.h"

namespace cmsis_nn_delegate {
namespace {

bool write(const char* path, const void* data, std::size_t size) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) {
    return false;
  }
  const bool written = std::fwrite(data, 1, size, file) == size;
  return std::fclose(file) == 0 && written;
}

int run(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: write_sample ISA PAYLOAD INPUT OUTPUTS\n");
    return 2;
  }
  testing::AlignedBytes payload = testing::small_network();
  payload.header().isa = static_cast<std::uint8_t>(std::strtol(argv[1], nullptr, 10));
  payload.header().crc32 = payload_crc32(payload.data(), payload.size());
  const auto view = PayloadView::open(payload.data(), payload.size(), kPortableKernels);
  if (!view.ok()) {
    return 1;
  }
  testing::AlignedBytes input(view->tensors()[0].nbytes);
  for (std::size_t i = 0; i < input.size() / sizeof(float); ++i) {
    input.at<float>(i * sizeof(float)) = static_cast<float>((i * 29) % 97) / 24.0f - 2.0f;
  }
  testing::AlignedBytes arena(view->header().arena_bytes);
  testing::AlignedBytes scores(view->tensors()[1].nbytes);
  testing::AlignedBytes logits(view->tensors()[2].nbytes);
  Bases bases = {};
  bases[payload::kBaseArena] = arena.data();
  bases[payload::kBaseConstant] = payload.data();
  bases[payload::kBaseIo] = input.data();
  bases[payload::kBaseIo + 1] = scores.data();
  bases[payload::kBaseIo + 2] = logits.data();
  for (const Call& call : view->calls()) {
    if (kPortableKernels.find(call.opcode)->run(call.args(), bases) !=
        executorch::runtime::Error::Ok) {
      return 1;
    }
  }
  std::vector<std::uint8_t> outputs(scores.data(), scores.data() + scores.size());
  outputs.insert(outputs.end(), logits.data(), logits.data() + logits.size());
  const bool written = write(argv[2], payload.data(), payload.size()) &&
                       write(argv[3], input.data(), input.size()) &&
                       write(argv[4], outputs.data(), outputs.size());
  return written ? 0 : 1;
}

}  // namespace
}  // namespace cmsis_nn_delegate

int main(int argc, char** argv) { return cmsis_nn_delegate::run(argc, argv); }
