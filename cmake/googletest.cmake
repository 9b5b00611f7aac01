# Enables tests if there are googletest's sources and a runtime to link: sets CMSIS_NN_DELEGATE_TESTS and
# CMSIS_NN_DELEGATE_GTEST_MAIN, the target with main().
option(CMSIS_NN_DELEGATE_BUILD_TESTS "Build the C++ tests for ctest" ${PROJECT_IS_TOP_LEVEL})
set(CMSIS_NN_DELEGATE_TESTS OFF)
set(CMSIS_NN_DELEGATE_GTEST_MAIN gtest_main)

if(CMSIS_NN_DELEGATE_DEVICE OR NOT CMSIS_NN_DELEGATE_BUILD_TESTS)
  return()
endif()

set(GOOGLETEST_DIR
    "$ENV{GOOGLETEST_DIR}"
    CACHE PATH "Checkout of googletest; if empty, the sources that Debian's package googletest installs"
)
if(NOT TARGET gtest_main)
  set(_googletest ${GOOGLETEST_DIR})
  if(NOT _googletest)
    set(_googletest /usr/src/googletest)
  endif()
  if(NOT EXISTS ${_googletest}/googletest/CMakeLists.txt)
    message(WARNING "No tests: ${_googletest} has no googletest. Set GOOGLETEST_DIR to a checkout.")
    return()
  endif()
  set(BUILD_GMOCK OFF CACHE BOOL "" FORCE)
  set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
  set(gtest_force_shared_crt ON)
  add_subdirectory(${_googletest} googletest EXCLUDE_FROM_ALL)
endif()
if(NOT CMSIS_NN_DELEGATE_HAS_RUNTIME)
  message(WARNING "No tests: ${CMSIS_NN_DELEGATE_EXECUTORCH} has no runtime library beside it.")
  return()
endif()

enable_testing()
set(CMSIS_NN_DELEGATE_TESTS ON)
