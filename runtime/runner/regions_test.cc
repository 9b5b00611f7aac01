#include "runtime/runner/regions.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace cmsis_nn_delegate::runner {
namespace {

/// The beginning of a payload with an input, an output and `regions`, at a 16-byte aligned address.
class Beginning {
 public:
  explicit Beginning(const std::vector<std::uint32_t>& regions) {
    payload::Header header = {};
    header.header_bytes = sizeof(header);
    header.input_count = 1;
    header.output_count = 1;
    header.region_count = static_cast<decltype(header.region_count)>(regions.size());
    std::memcpy(data_, &header, sizeof(header));
    std::size_t end = sizeof(header) + 2 * sizeof(payload::IoTensor);
    for (const std::uint32_t bytes : regions) {
      std::memcpy(data_ + end, &bytes, sizeof(bytes));
      end += sizeof(bytes);
    }
    size_ = end;
  }

  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  alignas(payload::kAlignment) std::uint8_t data_[512] = {};
  std::size_t size_ = 0;
};

alignas(payload::kAlignment) std::uint8_t memory[256];

TEST(RegionsTest, PlacesTheRegionsOfAPayloadOneAfterAnother) {
  const Beginning payload({32, 0, 48});
  Regions regions;
  regions.add(payload.data(), payload.size());
  EXPECT_EQ(regions.place(memory, sizeof(memory)), 80u);
  ASSERT_EQ(regions.count(), 3u);
  EXPECT_EQ(regions.data()[0].data, memory);
  EXPECT_EQ(regions.data()[1].data, memory + 32);
  EXPECT_EQ(regions.data()[2].data, memory + 32);
  EXPECT_EQ(regions.data()[2].bytes, 48u);
}

TEST(RegionsTest, SeveralPayloadsShareTheLargestRegions) {
  const Beginning one({32, 64});
  const Beginning two({48});
  Regions regions;
  regions.add(one.data(), one.size());
  regions.add(two.data(), two.size());
  EXPECT_EQ(regions.place(memory, sizeof(memory)), 48u + 64u);
  ASSERT_EQ(regions.count(), 2u);
  EXPECT_EQ(regions.data()[0].bytes, 48u);
  EXPECT_EQ(regions.data()[1].bytes, 64u);
}

TEST(RegionsTest, HasNoRegionsIfTheyDoNotFit) {
  const Beginning payload({32, 64});
  Regions regions;
  regions.add(payload.data(), payload.size());
  EXPECT_EQ(regions.place(memory, 95), 0u);
  EXPECT_EQ(regions.count(), 0u);
}

TEST(RegionsTest, IgnoresWhatIsNoPayload) {
  const Beginning odd({32, 60});
  const Beginning whole({32, 64});
  const Beginning many(std::vector<std::uint32_t>(payload::kMaxIo + 1, 16));
  Regions regions;
  regions.add(odd.data(), odd.size());
  regions.add(many.data(), many.size());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    regions.add(whole.data(), size);
  }
  EXPECT_EQ(regions.count(), 0u);
}

}  // namespace
}  // namespace cmsis_nn_delegate::runner
