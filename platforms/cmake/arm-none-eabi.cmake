# Toolchain file: arm-none-eabi-gcc for one core.
#
#   cmake --toolchain platforms/cmake/arm-none-eabi.cmake -DCORE=cortex_m55 ...
#
# CORE is a name of TARGETS in platforms/cores.bzl; cortex_m33_nodsp is a core without its DSP instructions.
# tables.cmake, generated from the flags of Bazel's toolchain, has the flags of each of them and those for all. To use
# another compiler than the one on PATH, set ARM_GNU_TOOLCHAIN to its folder, as a CMake or environment variable.
include(${CMAKE_CURRENT_LIST_DIR}/table.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tables.cmake)

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
# Linking a program needs a board; creating an archive does not.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CORE ARM_GNU_TOOLCHAIN)

if(NOT CORE)
  message(FATAL_ERROR "Choose a core from platforms/cores.bzl: -DCORE=cortex_m55")
endif()
cmsis_nn_delegate_core(${CORE})
set(CMSIS_NN_DELEGATE_CORE ${CORE})

if(NOT ARM_GNU_TOOLCHAIN)
  set(ARM_GNU_TOOLCHAIN $ENV{ARM_GNU_TOOLCHAIN})
endif()
find_program(
  ARM_NONE_EABI_GCC arm-none-eabi-gcc
  HINTS ${ARM_GNU_TOOLCHAIN}/bin REQUIRED NO_CMAKE_FIND_ROOT_PATH
)
string(REGEX REPLACE "gcc$" "" _prefix ${ARM_NONE_EABI_GCC})
set(CMAKE_C_COMPILER ${_prefix}gcc)
set(CMAKE_CXX_COMPILER ${_prefix}g++)
set(CMAKE_ASM_COMPILER ${_prefix}gcc)
set(CMAKE_OBJCOPY ${_prefix}objcopy CACHE FILEPATH "")
set(CMAKE_SIZE ${_prefix}size CACHE FILEPATH "")

# If the compiler does not know the core, use the same instruction set under another name.
if(CORE_OTHER_FLAGS)
  execute_process(
    COMMAND ${CMAKE_C_COMPILER} -mcpu=${CORE_CPU} -E -xc /dev/null
    RESULT_VARIABLE _unknown
    OUTPUT_QUIET ERROR_QUIET
  )
  if(_unknown)
    set(CORE_FLAGS ${CORE_OTHER_FLAGS})
  endif()
endif()

list(JOIN CORE_FLAGS " " _core)
list(JOIN CMSIS_NN_DELEGATE_ARM_COMMON " " _common)
list(JOIN CMSIS_NN_DELEGATE_ARM_C " " _c)
list(JOIN CMSIS_NN_DELEGATE_ARM_CXX " " _cxx)
list(JOIN CMSIS_NN_DELEGATE_ARM_LINK " " _link)
set(CMAKE_C_FLAGS_INIT "-mthumb ${_core} ${_common} ${_c}")
set(CMAKE_CXX_FLAGS_INIT "-mthumb ${_core} ${_common} ${_cxx}")
set(CMAKE_ASM_FLAGS_INIT "-mthumb ${_core}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${_link}")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
