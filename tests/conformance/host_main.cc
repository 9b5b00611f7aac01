// The runner of suites on the host: `run_on_host portable|cmsis_nn SUITE`.
//
// Prints a line for every case that fails, and at the end the same line as firmware_main.cc.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>

#include "runtime/kernels/portable/portable.h"
#include "tests/conformance/run_suite.h"
#ifdef WITH_CMSIS_NN
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#endif

namespace {

using namespace cmsis_nn_delegate;

/// 16-byte aligned bytes.
class Bytes {
 public:
  explicit Bytes(std::size_t size) : storage_(size / sizeof(Block) + 1), size_(size) {}
  std::uint8_t* data() { return storage_.data()->bytes; }
  std::size_t size() const { return size_; }

 private:
  struct alignas(16) Block {
    std::uint8_t bytes[16];
  };
  std::vector<Block> storage_;
  std::size_t size_;
};

void report(std::uint32_t index, const char* what, std::int64_t a, std::int64_t b) {
  std::printf("##CASE index=%" PRIu32 " %s %" PRId64 " %" PRId64 "\n", index, what, a, b);
}

bool read(const char* path, Bytes& bytes) {
  std::FILE* file = std::fopen(path, "rb");
  const bool complete =
      file != nullptr && std::fread(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (file != nullptr) {
    std::fclose(file);
  }
  return complete;
}

long size_of(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) {
    return -1;
  }
  std::fseek(file, 0, SEEK_END);
  const long size = std::ftell(file);
  std::fclose(file);
  return size;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s portable|cmsis_nn SUITE\n", argv[0]);
    return 2;
  }
  const KernelTable* kernels = nullptr;
  if (std::strcmp(argv[1], "portable") == 0) {
    kernels = &kPortableKernels;
  }
#ifdef WITH_CMSIS_NN
  if (std::strcmp(argv[1], "cmsis_nn") == 0) {
    kernels = &kCmsisNnKernels;
  }
#endif
  if (kernels == nullptr) {
    std::fprintf(stderr, "there are no kernels called %s in this program\n", argv[1]);
    return 2;
  }
  const long size = size_of(argv[2]);
  if (size < 0) {
    std::fprintf(stderr, "cannot read %s\n", argv[2]);
    return 2;
  }
  Bytes suite(static_cast<std::size_t>(size));
  if (!read(argv[2], suite)) {
    std::fprintf(stderr, "cannot read %s\n", argv[2]);
    return 2;
  }
  Bytes memory(std::size_t{16} << 20);
  conformance::Totals totals;
  const bool complete = conformance::run_suite(suite.data(), suite.size(), memory.data(),
                                               memory.size(), *kernels, {}, report, totals);
  std::printf("##SUITE kernels=%s core=host cases=%" PRIu32 " failed=%" PRIu32 " scratch=%" PRIu32
              " narrow=0\n",
              kernels->provider->name, totals.cases, totals.failed, totals.scratch_checked);
  return complete && totals.failed == 0 ? 0 : 1;
}
