# A stand-in for Zephyr's build, found by find_package(Zephyr): defines the names that zephyr/CMakeLists.txt and the samples
# use, in Zephyr's order, and a firmware with the library `app`. MODULE_ROOT and MODULE_CMAKE are the module; Kconfig's
# results are variables.
project(zephyr_standin LANGUAGES C CXX ASM)

file(WRITE ${CMAKE_BINARY_DIR}/app.c "")
add_library(app STATIC ${CMAKE_BINARY_DIR}/app.c)
add_library(zephyr_interface INTERFACE)
# Code that is compiled without Zephyr's flags does not see this definition, and the firmware would not link.
target_compile_options(zephyr_interface INTERFACE -DZEPHYR_STANDIN=1)
target_include_directories(zephyr_interface INTERFACE ${CMAKE_CURRENT_LIST_DIR}/include)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/generated/syscall_list.h
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/generated/syscall_list.h
)
add_custom_target(zephyr_generated_headers DEPENDS ${CMAKE_BINARY_DIR}/generated/syscall_list.h)
target_include_directories(zephyr_interface INTERFACE ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(app PRIVATE zephyr_interface)
target_include_directories(app PRIVATE ${MODULE_ROOT})
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Like modules without their own binary folder.
add_subdirectory(${MODULE_CMAKE} ${CMAKE_BINARY_DIR}/modules/cmsis_nn_delegate)

# After the application's CMakeLists.txt, as Zephyr links its image.
function(zephyr_standin_link)
  target_sources(app PRIVATE ${MODULE_ROOT}/tests/cmake/zephyr_standin/printk.cc)
  add_executable(firmware ${CMAKE_BINARY_DIR}/app.c)
  target_link_libraries(firmware PRIVATE -Wl,--whole-archive app -Wl,--no-whole-archive)
  include(${MODULE_ROOT}/platforms/cmake/firmware.cmake)
  cmsis_nn_delegate_firmware(firmware)
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL zephyr_standin_link)
