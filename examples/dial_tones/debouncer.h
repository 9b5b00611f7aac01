// From what the network says every 20 ms to the keys that were dialled.
#pragma once

#include <cstdint>

namespace dial_tones {

constexpr int kKeys = 16;
/// What stands for no key: the last of the network's probabilities.
constexpr int kNothing = kKeys;
constexpr const char* kNames = "123A456B789C*0#D";

/// Reports each key once: when the last two results together say it, and again only after they have said another key
/// or none. So one result that is wrong is no key, and a key that is held is not dialled twice.
class Debouncer {
 public:
  /// The sum of two results that a key needs: that of probabilities of 0.6.
  static constexpr int kSure = 51;

  /// Takes the next result: the probabilities of the keys, and of nothing, from -128 to 127 for 0 to 1. Returns the key
  /// that begins with it, or kNothing.
  int take(const std::int8_t (&probabilities)[kKeys + 1]) {
    int said = kNothing;
    int most = -256;
    for (int i = 0; i <= kKeys; ++i) {
      const int sum = last_[i] + probabilities[i];
      last_[i] = probabilities[i];
      if (sum > most) {
        most = sum;
        said = i;
      }
    }
    const int key = most >= kSure ? said : kNothing;
    const bool begins = key != held_;
    held_ = key;
    return begins ? key : kNothing;
  }

 private:
  std::int8_t last_[kKeys + 1] = {-128, -128, -128, -128, -128, -128, -128, -128, -128,
                                  -128, -128, -128, -128, -128, -128, -128, 127};
  int held_ = kNothing;
};

}  // namespace dial_tones
