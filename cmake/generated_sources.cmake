# C++ that this build generates, with nothing but Python's standard library. What targets.cmake does not
# name is not made.

# cmsis_nn_delegate_generate(<module> OUTPUTS ... INPUTS ...)
#
# OUTPUTS, paths in the build folder, are the arguments of the Python module; INPUTS are what it reads, in aot/.
function(cmsis_nn_delegate_generate module)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OUTPUTS;INPUTS")
  set(aot ${CMSIS_NN_DELEGATE_ROOT}/aot)
  list(TRANSFORM arg_INPUTS PREPEND ${aot}/cmsis_nn_delegate/)
  list(GET arg_OUTPUTS 0 first)
  list(TRANSFORM arg_OUTPUTS PREPEND ${CMSIS_NN_DELEGATE_GENERATED}/)
  foreach(output IN LISTS arg_OUTPUTS)
    cmake_path(GET output PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
  endforeach()
  add_custom_command(
    OUTPUT ${arg_OUTPUTS}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${aot} PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} -m
            cmsis_nn_delegate.${module} ${arg_OUTPUTS}
    DEPENDS ${arg_INPUTS}
    COMMENT "Generating ${first}"
    VERBATIM
  )
endfunction()

cmsis_nn_delegate_generate(
  payload.cpp_header
  OUTPUTS runtime/payload/format.h
  INPUTS payload/cpp_header.py payload/generated.py payload/layout.py payload/schema.py
)
cmsis_nn_delegate_generate(
  payload.operator_checks
  OUTPUTS runtime/payload/operators.h runtime/payload/operators.cc
  INPUTS payload/cpp_header.py payload/generated.py payload/layout.py payload/operator_checks.py
         payload/schema.py
)
cmsis_nn_delegate_generate(
  payload.operator_fields
  OUTPUTS runtime/payload/operator_fields.h
  INPUTS payload/cpp_header.py payload/generated.py payload/layout.py payload/operator_fields.py
         payload/schema.py
)
cmsis_nn_delegate_generate(
  ops.rules_header
  OUTPUTS runtime/kernels/cmsis_nn/rules.h
  INPUTS ops/cmsis_nn_rules.py ops/rules_header.py
)
