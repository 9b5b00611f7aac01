# How the delegate's targets are declared. The functions take lists with one name a line, which
# tests/cmake/drift_test.py compares with the BUILD file beside.

set(CMSIS_NN_DELEGATE_ROOT ${CMAKE_CURRENT_LIST_DIR}/..)
cmake_path(NORMAL_PATH CMSIS_NN_DELEGATE_ROOT)
set(CMSIS_NN_DELEGATE_GENERATED ${CMAKE_CURRENT_BINARY_DIR}/generated)

# Firmware, as opposed to the host.
if(CMAKE_SYSTEM_NAME STREQUAL "Generic")
  set(CMSIS_NN_DELEGATE_DEVICE ON)
else()
  set(CMSIS_NN_DELEGATE_DEVICE OFF)
endif()

# cmsis_nn_delegate_library(<name> [ALWAYSLINK] [TESTONLY] [SRCS ...] [HDRS ...] [DEPS ...]
#                           [DEFINES ...] [COPTS ...])
#
# The library cmsis_nn_delegate::<name>; INTERFACE if it has no sources to compile. DEPS are such
# names, or targets with `::`. DEFINES also reach what depends on it, COPTS do not. Of an ALWAYSLINK
# library nothing is dropped. A TESTONLY one is not installed.
function(cmsis_nn_delegate_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALWAYSLINK;TESTONLY" "" "SRCS;HDRS;DEPS;DEFINES;COPTS")
  set(compiled ${arg_SRCS})
  list(FILTER compiled INCLUDE REGEX "\\.(c|cc)$")
  set(target cmsis_nn_delegate_${name})
  if(compiled)
    add_library(${target} STATIC ${arg_SRCS} ${arg_HDRS})
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
  target_compile_definitions(${target} ${scope} ${arg_DEFINES})
  target_include_directories(
    ${target}
    ${scope}
    $<BUILD_INTERFACE:${CMSIS_NN_DELEGATE_ROOT}>
    $<BUILD_INTERFACE:${CMSIS_NN_DELEGATE_GENERATED}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/cmsis_nn_delegate>
  )
  _cmsis_nn_delegate_link(${target} ${scope} ${arg_DEPS})
  set(exported ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(arg_ALWAYSLINK)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name}_archive)
    add_library(cmsis_nn_delegate::${name}_archive ALIAS ${target})
    add_library(${target}_whole INTERFACE)
    # Not $<LINK_LIBRARY:WHOLE_ARCHIVE>, which CMake has for no bare-metal system. The second line is
    # for what the archive depends on.
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
    foreach(header IN LISTS arg_HDRS)
      cmake_path(ABSOLUTE_PATH header)
      set_property(GLOBAL APPEND PROPERTY CMSIS_NN_DELEGATE_HEADERS ${header})
    endforeach()
  endif()
endfunction()

# cmsis_nn_delegate_test(<name> SRCS ... [DEPS ...] [COPTS ...] [LINKOPTS ...])
#
# A gtest program for ctest, if tests are built. SRCS may be of other folders: "//folder/file.cc".
function(cmsis_nn_delegate_test name)
  if(NOT CMSIS_NN_DELEGATE_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SRCS;DEPS;COPTS;LINKOPTS")
  list(TRANSFORM arg_SRCS REPLACE "^//" "${CMSIS_NN_DELEGATE_ROOT}/")
  set(target cmsis_nn_delegate_${name})
  add_executable(${target} ${arg_SRCS})
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF OUTPUT_NAME ${name})
  target_compile_options(${target} PRIVATE ${arg_COPTS})
  target_link_options(${target} PRIVATE ${arg_LINKOPTS})
  _cmsis_nn_delegate_link(${target} PRIVATE ${arg_DEPS})
  target_link_libraries(${target} PRIVATE ${CMSIS_NN_DELEGATE_GTEST_MAIN})
  add_test(NAME ${name} COMMAND ${target})
endfunction()

function(_cmsis_nn_delegate_link target scope)
  foreach(dependency IN LISTS ARGN)
    if(NOT dependency MATCHES "::")
      set(dependency cmsis_nn_delegate::${dependency})
    endif()
    target_link_libraries(${target} ${scope} ${dependency})
  endforeach()
endfunction()
