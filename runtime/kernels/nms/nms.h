// Non-maximum suppression, for boxes and scores of any type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// For whether each box of an image is left.
template <typename Args>
std::uint32_t nms_scratch_bytes(const void* args) {
  return static_cast<std::uint32_t>(static_cast<const Args*>(args)->count);
}

/// 0 if `to` is before `from`. Areas, products of two, fit 32 bits.
inline std::uint32_t side(std::int32_t from, std::int32_t to) {
  return to > from ? static_cast<std::uint32_t>(to - from) : 0;
}

/// `box` is x1, y1, x2, y2.
template <typename Element>
inline std::uint32_t area(const Element* box) {
  return side(box[0], box[2]) * side(box[1], box[3]);
}

/// Whether the intersection of two boxes, in 2^-15, is more than `iou` times their union, of at most 33 bits.
template <typename Element>
inline bool covers(const Element* a, std::uint32_t area_of_a, const Element* b, std::uint32_t iou) {
  const std::uint32_t intersection = side(std::max(a[0], b[0]), std::min(a[2], b[2])) *
                                     side(std::max(a[1], b[1]), std::min(a[3], b[3]));
  const std::uint64_t together = std::uint64_t{area_of_a} + area(b) - intersection;
  return std::uint64_t{intersection} << 15 > iou * together;
}

template <typename Element, typename Args>
void non_maximum_suppression(const Args& a, const Bases& bases) {
  constexpr std::size_t kCorners = 4;
  const auto* boxes = bases.resolve<const Element>(a.boxes);
  const auto* scores = bases.resolve<const Element>(a.scores);
  auto* output = bases.resolve<std::uint8_t>(a.output);
  auto* left = bases.resolve<std::int8_t>(a.scratch);
  const auto count = static_cast<std::size_t>(a.count);
  const auto iou = static_cast<std::uint32_t>(a.iou);

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    for (std::size_t i = 0; i < count; ++i) {
      left[i] = scores[i] >= a.least ? 1 : 0;
    }
    bool any = true;
    for (std::int32_t place = 0; place < a.most; ++place) {
      std::size_t best = count;
      for (std::size_t i = 0; any && i < count; ++i) {
        if (left[i] != 0 && (best == count || scores[i] > scores[best])) {
          best = i;
        }
      }
      any = best < count;
      const std::int64_t index = any ? static_cast<std::int64_t>(best) : -1;
      std::memcpy(output, &index, sizeof(index));  // it may lie anywhere
      output += sizeof(index);
      if (!any) {
        continue;
      }
      left[best] = 0;
      const Element* kept = boxes + best * kCorners;
      const std::uint32_t area_of_kept = area(kept);
      for (std::size_t i = 0; i < count; ++i) {
        if (left[i] != 0 && covers(kept, area_of_kept, boxes + i * kCorners, iou)) {
          left[i] = 0;
        }
      }
    }
    boxes += count * kCorners;
    scores += count;
  }
}

}  // namespace cmsis_nn_delegate::portable
