#include "runtime/runner/executorch/missing_kernels.h"

#include <cstdio>
#include <cstring>

#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/schema/program_generated.h>

namespace cmsis_nn_delegate::runner {

void name_missing_kernels(const std::uint8_t* program, const char* method, Line& line) {
  const auto* plans = executorch_flatbuffer::GetProgram(program)->execution_plan();
  for (std::size_t i = 0; plans != nullptr && i < plans->size(); ++i) {
    const auto* plan = plans->Get(i);
    const auto* operators = plan->operators();
    if (operators == nullptr || plan->name() == nullptr ||
        std::strcmp(plan->name()->c_str(), method) != 0) {
      continue;
    }
    for (std::size_t j = 0; j < operators->size(); ++j) {
      const auto* name = operators->Get(j)->name();
      const auto* overload = operators->Get(j)->overload();
      if (name == nullptr) {
        continue;
      }
      const bool has_overload = overload != nullptr && overload->size() != 0;
      char text[96];
      std::snprintf(text, sizeof(text), "%s%s%s", name->c_str(), has_overload ? "." : "",
                    has_overload ? overload->c_str() : "");
      if (!executorch::runtime::registry_has_op_function(text)) {
        line.text(text);
      }
    }
  }
}

}  // namespace cmsis_nn_delegate::runner
