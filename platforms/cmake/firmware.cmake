# Board support for a CMake project that uses arm-none-eabi.cmake, like //platforms:firmware.bzl for Bazel.
include(${CMAKE_CURRENT_LIST_DIR}/table.cmake)
get_filename_component(_CMSIS_NN_DELEGATE_PLATFORMS ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)

# cmsis_nn_delegate_firmware(<executable> [STACK_BYTES n] [BOARD board])
#
# Links the executable for a board, with start-up code and UART from platforms/bsp and the board's linker script, and
# writes <executable>.elf, .map, .bin and .board.json. BOARD is a name from platforms/boards.bzl, or a JSON file that
# describes your own board as platforms/tools/board.py explains; the default is CMSIS_NN_DELEGATE_BOARD, else the core's
# board in platforms/boards.bzl. The target <executable>_run runs the image in QEMU, if that is installed and has the
# board. The build refuses an image that contains the heap or exceptions, and names the object files that use them.
function(cmsis_nn_delegate_firmware target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "STACK_BYTES;BOARD" "")
  if(NOT arg_STACK_BYTES)
    set(arg_STACK_BYTES 16384)
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  cmsis_nn_delegate_core(${CORE})
  if(NOT arg_BOARD)
    set(arg_BOARD ${CMSIS_NN_DELEGATE_BOARD})
  endif()
  if(NOT arg_BOARD)
    set(arg_BOARD ${CORE_BOARD})
  endif()
  cmsis_nn_delegate_board(${arg_BOARD} ${CORE} ${CMAKE_CURRENT_BINARY_DIR}/${target})
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}.ld)

  set(bsp ${target}_bsp)
  include(${_CMSIS_NN_DELEGATE_PLATFORMS}/cmake/tables.cmake)
  foreach(files IN ITEMS CMSIS_NN_DELEGATE_BSP_SRCS CMSIS_NN_DELEGATE_BSP_BOARD_SRCS CMSIS_NN_DELEGATE_ABORT_SRCS)
    list(TRANSFORM ${files} PREPEND ${_CMSIS_NN_DELEGATE_PLATFORMS}/../)
  endforeach()
  add_library(
    ${bsp} OBJECT ${CMSIS_NN_DELEGATE_BSP_SRCS} ${CMSIS_NN_DELEGATE_BSP_BOARD_SRCS} ${BOARD_START}
  )
  target_compile_options(${bsp} PRIVATE ${CMSIS_NN_DELEGATE_BSP_COPTS})
  target_compile_definitions(
    ${bsp}
    PRIVATE BSP_BOARD="${BOARD_NAME}" BSP_CORE="${CORE_CPU}" BSP_ISA="${CORE_ISA}"
            BSP_CLOCK_HZ=${BOARD_CLOCK_HZ}u
            BSP_UART_BASE=${BOARD_UART}u
            BSP_UART_HEADER="${BOARD_UART_HEADER}"
  )
  target_include_directories(${bsp} PUBLIC ${_CMSIS_NN_DELEGATE_PLATFORMS}/..)

  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  set_target_properties(
    ${target} PROPERTIES SUFFIX .elf RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
                         LINK_DEPENDS ${script}
  )
  target_sources(${target} PRIVATE ${CMSIS_NN_DELEGATE_ABORT_SRCS})
  target_link_libraries(${target} PRIVATE ${bsp})
  target_link_options(
    ${target} PRIVATE -T ${script} -Wl,--defsym=__stack_size=${arg_STACK_BYTES} -Wl,--cref
    -Wl,-Map=${map}
  )
  string(REGEX REPLACE "gcc$" "" tools ${CMAKE_C_COMPILER})
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/${target}.linked)
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E rename $<TARGET_FILE:${target}> ${linked}
    COMMAND ${Python3_EXECUTABLE} ${_CMSIS_NN_DELEGATE_PLATFORMS}/tools/check_image.py --label ${target}
            --nm ${tools}nm --readelf ${tools}readelf --map ${map} --elf ${linked} --output
            $<TARGET_FILE:${target}>
    COMMAND ${CMAKE_OBJCOPY} -O binary $<TARGET_FILE:${target}>
            ${CMAKE_CURRENT_BINARY_DIR}/${target}.bin
    VERBATIM
  )

  find_program(QEMU_SYSTEM_ARM qemu-system-arm HINTS ENV QEMU_SYSTEM_ARM)
  if(QEMU_SYSTEM_ARM AND BOARD_QEMU_MACHINE)
    add_custom_target(
      ${target}_run
      COMMAND
        ${QEMU_SYSTEM_ARM} -machine ${BOARD_QEMU_MACHINE} ${BOARD_QEMU_OPTIONS} -icount shift=0 -display none
        -monitor none -serial stdio -semihosting-config enable=on,target=native -kernel $<TARGET_FILE:${target}>
      DEPENDS ${target}
      USES_TERMINAL VERBATIM
    )
  endif()
endfunction()
