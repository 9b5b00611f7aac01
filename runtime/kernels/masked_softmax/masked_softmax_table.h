// Softmax of the elements that a mask leaves, with a table of the exponentials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "runtime/kernels/common/softmax_table_rows.h"
#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

#if CMSIS_NN_DELEGATE_VECTORS
/// Which of 16 bytes are 0 if kZero, and which are not if not.
template <bool kZero, typename... Lanes>
inline mve_pred16_t compare(int8x16_t values, Lanes... lanes) {
  if constexpr (sizeof...(lanes) == 0) {
    return kZero ? vcmpeqq_n_s8(values, 0) : vcmpneq_n_s8(values, 0);
  } else {
    return kZero ? vcmpeqq_m_n_s8(values, 0, lanes...) : vcmpneq_m_n_s8(values, 0, lanes...);
  }
}

/// The first element of `mask` from `i` on that is 0 if kZero, and that is not if not; at least `size` if none is.
template <bool kZero>
inline std::int32_t find(const std::int8_t* mask, std::int32_t i, std::int32_t size) {
  for (; i + 16 <= size; i += 16) {
    const std::uint32_t found = compare<kZero>(vldrbq_s8(mask + i));
    if (found != 0) {
      return i + __builtin_ctz(found);
    }
  }
  if (i >= size) {
    return size;
  }
  const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(size - i));
  const std::uint32_t found = compare<kZero>(vldrbq_z_s8(mask + i, lanes), lanes);
  return found == 0 ? size : i + __builtin_ctz(found);
}

/// The maximum of the elements of a row that count, and at least -128.
inline std::int32_t most_shown(const std::int8_t* input, const std::int8_t* mask,
                               std::int32_t size) {
  std::int8_t most = std::numeric_limits<std::int8_t>::min();
  std::int32_t i = 0;
  for (; i + 16 <= size; i += 16) {
    most = vmaxvq_p_s8(most, vldrbq_s8(input + i), compare<true>(vldrbq_s8(mask + i)));
  }
  if (i < size) {
    const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(size - i));
    const mve_pred16_t shown = compare<true>(vldrbq_z_s8(mask + i, lanes), lanes);
    most = vmaxvq_p_s8(most, vldrbq_z_s8(input + i, shown), shown);
  }
  return most;
}
#elif CMSIS_NN_DELEGATE_WORDS
/// The first element of `mask` from `i` on that is 0 if kZero, and that is not if not; `size` if none is.
template <bool kZero>
inline std::int32_t find(const std::int8_t* mask, std::int32_t i, std::int32_t size) {
  for (; i + 4 <= size; i += 4) {
    const std::uint32_t word = load_word(mask + i);
    // The lowest bit that is set lies in the byte that is looked for; without zeros, none is.
    const std::uint32_t found = kZero ? (word - 0x01010101u) & ~word & 0x80808080u : word;
    if (found != 0) {
      return i + __builtin_ctz(found) / 8;
    }
  }
  while (i < size && (mask[i] == 0) != kZero) {
    ++i;
  }
  return i;
}

/// The maximum of the elements of a row that count, and at least -128.
inline std::int32_t most_shown(const std::int8_t* input, const std::int8_t* mask,
                               std::int32_t size) {
  constexpr std::uint32_t kLeast = 0x80808080u;
  std::uint32_t best = kLeast;
  std::int32_t i = 0;
  for (; i + 4 <= size; i += 4) {
    __usub8(0, load_word(mask + i));  // says where a byte is 0
    best = larger_bytes(__sel(load_word(input + i), kLeast), best);
  }
  best = larger_bytes(best >> 16, best);
  auto most = std::int32_t{static_cast<std::int8_t>(larger_bytes(best >> 8, best))};
  for (; i < size; ++i) {
    most = mask[i] == 0 && input[i] > most ? input[i] : most;
  }
  return most;
}
#endif

/// Calls `visit` with the first element and the size of each run of elements that count.
template <typename Visit>
inline void for_each_run(const std::int8_t* mask, std::int32_t size, const Visit& visit) {
#if CMSIS_NN_DELEGATE_VECTORS || CMSIS_NN_DELEGATE_WORDS
  for (std::int32_t i = 0;;) {
    const std::int32_t first = find<true>(mask, i, size);
    if (first >= size) {
      return;
    }
    i = find<false>(mask, first, size);
    visit(first, i - first);
  }
#else
  for (std::int32_t i = 0; i < size;) {
    if (mask[i] != 0) {
      ++i;
      continue;
    }
    const std::int32_t first = i;
    while (i < size && mask[i] == 0) {
      ++i;
    }
    visit(first, i - first);
  }
#endif
}

/// Computes one call: the body of a kernel's function. `Rows` has the functions of PlainSoftmaxRows, which compute a run
/// as they compute a row: what a mask hides may be larger than the maximum, and has no place in the table.
template <typename Rows>
[[gnu::always_inline]] inline Error compute_masked_softmax_table(const void* args,
                                                                 const Bases& bases) {
  constexpr std::int8_t kNothing = std::numeric_limits<std::int8_t>::min();
  const auto& call = *static_cast<const payload::MaskedSoftmaxTableArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(call.input);
  auto* output = bases.resolve<std::int8_t>(call.output);
  const auto* masks = bases.resolve<const std::int8_t>(call.filter);
  SoftmaxRow run = {};
  run.table = bases.resolve<const std::int32_t>(call.table);
  std::int32_t mask_row = 0;
  for (std::int32_t i = 0; i < call.rows; ++i) {
    const std::int8_t* mask = masks + mask_row * call.row_size;
#if CMSIS_NN_DELEGATE_VECTORS || CMSIS_NN_DELEGATE_WORDS
    run.most = most_shown(input, mask, call.row_size);
#else
    run.most = kNothing;
    for_each_run(mask, call.row_size, [&](std::int32_t first, std::int32_t size) {
      const std::int32_t most = Rows::most(input + first, size);
      run.most = most > run.most ? most : run.most;
    });
#endif
    std::int32_t sum = 0;
    for_each_run(mask, call.row_size, [&](std::int32_t first, std::int32_t size) {
      run.input = input + first;
      run.size = size;
      sum += Rows::sum(run);
    });
    set_sum(sum, run);
    std::memset(output, kNothing, static_cast<std::size_t>(call.row_size));
    for_each_run(mask, call.row_size, [&](std::int32_t first, std::int32_t size) {
      run.input = input + first;
      run.output = output + first;
      run.size = size;
      Rows::write(run);
    });
    input += call.row_size;
    output += call.row_size;
    ++mask_row;
    if (mask_row == call.mask_rows) {
      mask_row = 0;
    }
  }
  return Error::Ok;
}

/// Returns the kernel whose `run` calls compute_masked_softmax_table().
constexpr Kernel masked_softmax_table_kernel(Kernel::Run run) {
  return Kernel(operators::kMaskedSoftmaxTable, run).only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
