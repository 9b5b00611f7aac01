# The functions that targets.cmake calls to declare the delegate's targets. Files are paths from the root of
# the repository.

option(CMSIS_NN_DELEGATE_KERNELS_FOR_SIZE "Compile the delegate's own kernels for size, not for speed" OFF)

set(CMSIS_NN_DELEGATE_ROOT ${CMAKE_CURRENT_LIST_DIR}/..)
cmake_path(NORMAL_PATH CMSIS_NN_DELEGATE_ROOT)

# True for firmware, false for the host.
if(CMAKE_SYSTEM_NAME STREQUAL "Generic")
  set(CMSIS_NN_DELEGATE_DEVICE ON)
else()
  set(CMSIS_NN_DELEGATE_DEVICE OFF)
endif()

# cmsis_nn_delegate_library(<name> [HOST|DEVICE] [ALWAYSLINK] [TESTONLY] [NEEDS ...] [SRCS ...] [HDRS ...]
#                           [DEPS ...] [DEFINES ...] [HOST_DEFINES ...] [DEVICE_DEFINES ...] [COPTS ...])
#
# Declares the library cmsis_nn_delegate::<name>, an INTERFACE library if it has no sources to compile. It is
# declared for the host and for devices unless HOST or DEVICE is given, and only if all libraries that it NEEDS
# exist. DEPS are names of such libraries. DEFINES also apply to targets that depend on the library, COPTS do not.
# HOST_DEFINES and DEVICE_DEFINES configure ExecuTorch; they are left out if executorch_core, a target of
# ExecuTorch's own build, has them. Of an ALWAYSLINK library, the linker keeps everything. A TESTONLY library is for
# tests and is not installed.
function(cmsis_nn_delegate_library name)
  cmake_parse_arguments(
    PARSE_ARGV 1 arg "HOST;DEVICE;ALWAYSLINK;TESTONLY" ""
    "NEEDS;SRCS;HDRS;DEPS;DEFINES;HOST_DEFINES;DEVICE_DEFINES;COPTS"
  )
  if((arg_HOST AND CMSIS_NN_DELEGATE_DEVICE)
     OR (arg_DEVICE AND NOT CMSIS_NN_DELEGATE_DEVICE)
     OR (arg_TESTONLY AND NOT CMSIS_NN_DELEGATE_TESTS)
  )
    return()
  endif()
  foreach(needed IN LISTS arg_NEEDS)
    if(NOT TARGET cmsis_nn_delegate::${needed})
      return()
    endif()
  endforeach()
  _cmsis_nn_delegate_files(sources ${arg_SRCS})
  _cmsis_nn_delegate_files(headers ${arg_HDRS})
  set(compiled ${sources})
  list(FILTER compiled INCLUDE REGEX "\\.(c|cc)$")
  set(target cmsis_nn_delegate_${name})
  if(compiled)
    add_library(${target} STATIC ${sources} ${headers})
    set(scope PUBLIC)
    set_target_properties(
      ${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON OUTPUT_NAME ${target}
    )
    if(CMSIS_NN_DELEGATE_DEVICE)
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    endif()
    target_compile_options(${target} PRIVATE ${arg_COPTS})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_compile_features(${target} ${scope} cxx_std_17)
  set(defines ${arg_DEFINES})
  if(CMSIS_NN_DELEGATE_CONFIGURES_EXECUTORCH)
    if(CMSIS_NN_DELEGATE_DEVICE)
      list(APPEND defines ${arg_DEVICE_DEFINES})
    else()
      list(APPEND defines ${arg_HOST_DEFINES})
    endif()
  endif()
  target_compile_definitions(${target} ${scope} ${defines})
  target_include_directories(
    ${target}
    ${scope}
    $<BUILD_INTERFACE:${CMSIS_NN_DELEGATE_ROOT}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/cmsis_nn_delegate>
  )
  list(TRANSFORM arg_DEPS PREPEND cmsis_nn_delegate::)
  target_link_libraries(${target} ${scope} ${arg_DEPS})
  set(exported ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(arg_ALWAYSLINK)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name}_archive)
    add_library(cmsis_nn_delegate::${name}_archive ALIAS ${target})
    add_library(${target}_whole INTERFACE)
    # Not $<LINK_LIBRARY:WHOLE_ARCHIVE>, which CMake does not support on bare-metal systems. The second line is
    # for the dependencies of the archive.
    target_link_options(
      ${target}_whole
      INTERFACE
      "LINKER:--whole-archive,$<TARGET_FILE:cmsis_nn_delegate::${name}_archive>,--no-whole-archive"
    )
    target_link_libraries(${target}_whole INTERFACE cmsis_nn_delegate::${name}_archive)
    set_target_properties(${target}_whole PROPERTIES EXPORT_NAME ${name})
    list(APPEND exported ${target}_whole)
    add_library(cmsis_nn_delegate::${name} ALIAS ${target}_whole)
  else()
    add_library(cmsis_nn_delegate::${name} ALIAS ${target})
  endif()
  if(NOT arg_TESTONLY)
    set_property(GLOBAL APPEND PROPERTY CMSIS_NN_DELEGATE_LIBRARIES ${exported})
    set_property(GLOBAL APPEND PROPERTY CMSIS_NN_DELEGATE_HEADERS ${headers})
  endif()
endfunction()

# cmsis_nn_delegate_test(<name> SRCS ... [DEPS ...] [DEFINES ...] [COPTS ...] [LINKOPTS ...])
#
# Declares a gtest program for ctest, if tests are built.
function(cmsis_nn_delegate_test name)
  if(NOT CMSIS_NN_DELEGATE_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SRCS;DEPS;DEFINES;COPTS;LINKOPTS")
  _cmsis_nn_delegate_files(sources ${arg_SRCS})
  set(target cmsis_nn_delegate_${name})
  add_executable(${target} ${sources})
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF OUTPUT_NAME ${name})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
  target_compile_options(${target} PRIVATE ${arg_COPTS})
  target_link_options(${target} PRIVATE ${arg_LINKOPTS})
  list(TRANSFORM arg_DEPS PREPEND cmsis_nn_delegate::)
  target_link_libraries(${target} PRIVATE ${arg_DEPS} ${CMSIS_NN_DELEGATE_GTEST_MAIN})
  add_test(NAME ${name} COMMAND ${target})
endfunction()

# Sets the variable <result> to the absolute paths of files.
function(_cmsis_nn_delegate_files result)
  set(files "")
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMSIS_NN_DELEGATE_ROOT})
    list(APPEND files ${file})
  endforeach()
  set(${result} ${files} PARENT_SCOPE)
endfunction()
