#include "tests/conformance/run_suite.h"

#include <cstring>

#include "runtime/payload/view.h"
#include "tests/conformance/suite_format.h"
#include "tests/payloads/operator_fields.h"

namespace cmsis_nn_delegate::conformance {
namespace {

using executorch::runtime::Error;

constexpr std::size_t kGuardBytes = 256;  // more than any vector access reaches past an end

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + kSuiteAlignment - 1) / kSuiteAlignment * kSuiteAlignment;
}

/// The contents of memory before a case: neighbouring bytes differ, and every case has different bytes.
std::uint8_t filling(std::size_t position, std::uint32_t index) {
  return static_cast<std::uint8_t>(position * 37 + index * 11 + 0x5A);
}

class CaseRun {
 public:
  CaseRun(std::uint32_t index, std::uint8_t* memory, std::size_t memory_bytes,
          const KernelTable& kernels, Report report, Totals& totals)
      : index_(index),
        memory_(memory),
        memory_bytes_(memory_bytes),
        kernels_(kernels),
        report_(report),
        totals_(totals) {}

  bool run(const CaseHeader& header) {
    const auto* payload = reinterpret_cast<const std::uint8_t*>(&header + 1);
    const std::uint8_t* inputs = payload + padded(header.payload_bytes);
    const std::uint8_t* expected = inputs + header.inputs_bytes;
    const auto view = PayloadView::open(payload, header.payload_bytes, kernels_);
    if (!view.ok()) {
      return fail("the payload is refused with error", static_cast<int>(view.error()));
    }
    // guard | arena | guard | output | guard ... | state | guard | copied constants | guard | region | guard ...
    Bases bases = {};
    bases[payload::kBaseConstant] = const_cast<std::uint8_t*>(payload);
    bases[payload::kBaseArena] = take(view->header().arena_bytes);
    for (unsigned i = 0; i < view->tensor_count(); ++i) {
      const payload::IoTensor& tensor = view->tensors()[i];
      if (i < view->header().input_count) {
        bases[payload::kBaseIo + i] = const_cast<std::uint8_t*>(inputs);
        inputs += padded(tensor.nbytes);
      } else {
        bases[payload::kBaseIo + i] = take(tensor.nbytes);
      }
    }
    const std::size_t state_bytes = view->header().persistent_bytes;
    std::uint8_t* const state = state_bytes == 0 ? nullptr : take(state_bytes);
    if (state != nullptr) {
      bases[view->persistent_base()] = state;
    }
    const std::uint8_t* constants = payload + view->header().constants_offset;
    const std::size_t copied_bytes = view->header().copied_bytes;
    std::uint8_t* const copies = copied_bytes == 0 ? nullptr : take(copied_bytes);
    if (copies != nullptr) {
      bases[view->copies_base()] = copies;
    }
    for (unsigned i = 0; i < view->header().region_count; ++i) {
      bases[view->region_base() + i] = take(view->region_bytes()[i]);
    }
    if (used_ > memory_bytes_) {
      return fail("memory is too small: needed, available", static_cast<std::int64_t>(used_),
                  static_cast<std::int64_t>(memory_bytes_));
    }
    for (std::size_t i = 0; i < used_; ++i) {
      memory_[i] = filling(i, index_);
    }
    if (state != nullptr) {
      std::memset(state, 0, state_bytes);
    }
    if (copies != nullptr) {
      std::memcpy(copies, constants, copied_bytes);
    }
    if (!run_calls(*view, bases)) {
      return false;
    }
    if (copies != nullptr && std::memcmp(copies, constants, copied_bytes) != 0) {
      return fail("a copied constant was written");
    }
    return check_outputs(*view, bases, expected) && check_guards();
  }

 private:
  struct Place {
    std::uint8_t* data;
    std::size_t bytes;
  };

  /// Returns the next `bytes` of memory, with a guard behind them.
  std::uint8_t* take(std::size_t bytes) {
    std::uint8_t* place = memory_ + used_;
    used_ += padded(bytes) + kGuardBytes;
    places_[place_count_++] = {place, bytes};
    return place;
  }

  bool fail(const char* what, std::int64_t a = 0, std::int64_t b = 0) {
    report_(index_, what, a, b);
    return false;
  }

  bool run_calls(const PayloadView& view, const Bases& bases) {
    for (const Call& call : view.calls()) {
      if (!check_scratch(call)) {
        return false;
      }
      const Error error = kernels_.find(call.opcode)->run(call.args(), bases);
      if (error != Error::Ok) {
        return fail("a kernel failed: opcode, error", call.opcode, static_cast<int>(error));
      }
    }
    return true;
  }

  bool check_scratch(const Call& call) {
    const Kernel& kernel = *kernels_.find(call.opcode);
    if (kernel.scratch_bytes == nullptr) {
      return true;
    }
    std::int64_t given = 0;
    for (const OperatorField& field : kOperatorFields[call.opcode]) {
      if (field.kind == FieldKind::kScratch) {
        given = static_cast<std::int64_t>(field.bytes(call.args()));
      }
    }
    const auto wanted = static_cast<std::int64_t>(kernel.scratch_bytes(call.args()));
    ++totals_.scratch_checked;
    // A kernel that runs the calls of every provider may get more than it needs: what the others need.
    const bool right = kernel.providers == 0xFF ? given >= wanted : given == wanted;
    return right || fail("scratch bytes: given, wanted", given, wanted);
  }

  bool check_outputs(const PayloadView& view, const Bases& bases, const std::uint8_t* expected) {
    for (unsigned i = view.header().input_count; i < view.tensor_count(); ++i) {
      const std::uint32_t nbytes = view.tensors()[i].nbytes;
      const std::uint8_t* actual = bases[payload::kBaseIo + i];
      std::uint32_t differing = 0;
      std::uint32_t first = 0;
      for (std::uint32_t byte = 0; byte < nbytes; ++byte) {
        if (actual[byte] != expected[byte] && differing++ == 0) {
          first = byte;
        }
      }
      if (differing != 0) {
        return fail("differing bytes, first at", differing, first);
      }
      expected += padded(nbytes);
    }
    return true;
  }

  /// Checks every byte of memory outside of the places that were taken.
  bool check_guards() {
    places_[place_count_++] = {memory_ + used_, 0};
    std::size_t at = 0;
    for (std::size_t i = 0; i < place_count_; ++i) {
      for (; memory_ + at < places_[i].data; ++at) {
        if (memory_[at] != filling(at, index_)) {
          return fail("a byte outside of its memories was written, at",
                      static_cast<std::int64_t>(at));
        }
      }
      at += places_[i].bytes;
    }
    return true;
  }

  std::uint32_t index_;
  std::uint8_t* memory_;
  std::size_t memory_bytes_;
  const KernelTable& kernels_;
  Report report_;
  Totals& totals_;
  std::size_t used_ = kGuardBytes;  // of memory
  Place places_[payload::kBaseCount + 1];
  std::size_t place_count_ = 0;
};

/// Returns how many calls of `opcode` the payload of a case has; 0 if `table` does not compute all of its calls.
std::size_t accepted_calls(const CaseHeader& header, const KernelTable& table, std::size_t opcode) {
  const auto view = PayloadView::open(&header + 1, header.payload_bytes, table);
  std::size_t count = 0;
  if (view.ok()) {
    for (const Call& call : view->calls()) {
      count += call.opcode == opcode ? 1 : 0;
    }
  }
  return count;
}

}  // namespace

bool run_suite(const std::uint8_t* suite, std::size_t suite_bytes, std::uint8_t* memory,
               std::size_t memory_bytes, const KernelTable& kernels, NarrowKernels narrow,
               Report report, Totals& totals) {
  const auto& header = *reinterpret_cast<const SuiteHeader*>(suite);
  if (suite_bytes < sizeof(SuiteHeader) || header.magic != kSuiteMagic ||
      header.version != kSuiteVersion || header.bytes > suite_bytes) {
    report(0, "there is no suite", 0, 0);
    return false;
  }
  const std::uint8_t* at = suite + sizeof(SuiteHeader);
  for (std::uint32_t index = 0; index < header.case_count; ++index) {
    const auto& case_header = *reinterpret_cast<const CaseHeader*>(at);
    CaseRun run(index, memory, memory_bytes, kernels, report, totals);
    ++totals.cases;
    bool passed = run.run(case_header);
    for (std::size_t i = 0; passed && i < narrow.count; ++i) {
      const KernelTable table = kernels.with(narrow.kernels[i]);
      if (accepted_calls(case_header, table, narrow.kernels[i].opcode()) != 0) {
        Totals again;
        passed = CaseRun(index, memory, memory_bytes, table, report, again).run(case_header);
        ++totals.narrow;
      }
    }
    totals.failed += passed ? 0 : 1;
    at += case_header.bytes;
  }
  return true;
}

}  // namespace cmsis_nn_delegate::conformance
