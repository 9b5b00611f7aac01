# Provides ExecuTorch as two targets. Also part of the installed package.
#
#   cmsis_nn_delegate::executorch_headers  for the host and for firmware
#   cmsis_nn_delegate::executorch_runtime  the runtime for the host, if there is one
#
# Uses the first of these that exists: the target executorch_core of an ExecuTorch tree or package; the
# folder EXECUTORCH_INCLUDE_DIR, which contains executorch/runtime/...; the Python package executorch of the
# interpreter Python3_EXECUTABLE. Only files of that package are used, because its CMake targets need a newer
# CMake than the rest.
#
# CMSIS_NN_DELEGATE_CONFIGURES_EXECUTORCH: logging and tracing are set as in the BUILD files, not as
# executorch_core was built.

if(TARGET cmsis_nn_delegate::executorch_headers)
  return()
endif()

add_library(cmsis_nn_delegate::executorch_headers INTERFACE IMPORTED GLOBAL)
add_library(cmsis_nn_delegate::executorch_runtime INTERFACE IMPORTED GLOBAL)
set(CMSIS_NN_DELEGATE_HAS_RUNTIME OFF)

if(TARGET executorch_core)
  set(CMSIS_NN_DELEGATE_CONFIGURES_EXECUTORCH OFF)
  target_link_libraries(cmsis_nn_delegate::executorch_headers INTERFACE executorch_core)
  target_link_libraries(cmsis_nn_delegate::executorch_runtime INTERFACE executorch_core)
  set(CMSIS_NN_DELEGATE_HAS_RUNTIME ON)
  set(CMSIS_NN_DELEGATE_EXECUTORCH "the target executorch_core")
  return()
endif()

set(CMSIS_NN_DELEGATE_CONFIGURES_EXECUTORCH ON)

set(EXECUTORCH_INCLUDE_DIR
    ""
    CACHE PATH "Folder with executorch/runtime/...; if empty, the one in the Python package executorch"
)
set(_include ${EXECUTORCH_INCLUDE_DIR})
if(NOT _include)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  # A namespace package: it has no __file__.
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    OUTPUT_VARIABLE _purelib
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY
  )
  set(_include ${_purelib}/executorch/include)
endif()
if(NOT EXISTS ${_include}/executorch/runtime/backend/interface.h)
  message(
    FATAL_ERROR
      "ExecuTorch's headers are not in ${_include}. Set Python3_EXECUTABLE to a Python that has the "
      "package executorch, or EXECUTORCH_INCLUDE_DIR to the folder that contains executorch/runtime."
  )
endif()
set(CMSIS_NN_DELEGATE_EXECUTORCH ${_include})

target_include_directories(
  cmsis_nn_delegate::executorch_headers
  INTERFACE ${_include} ${_include}/executorch/runtime/core/portable_type/c10
)
# Otherwise the headers include one that only ExecuTorch's own build generates.
target_compile_definitions(
  cmsis_nn_delegate::executorch_headers INTERFACE C10_USING_CUSTOM_GENERATED_MACROS
)
target_link_libraries(
  cmsis_nn_delegate::executorch_runtime INTERFACE cmsis_nn_delegate::executorch_headers
)

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")
  find_library(
    EXECUTORCH_LIBRARY executorch
    PATHS ${_include}/../lib
    NO_DEFAULT_PATH
  )
  if(EXECUTORCH_LIBRARY)
    target_link_libraries(cmsis_nn_delegate::executorch_runtime INTERFACE ${EXECUTORCH_LIBRARY})
    set(CMSIS_NN_DELEGATE_HAS_RUNTIME ON)
  endif()
endif()
