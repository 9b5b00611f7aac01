# Looks up cores in tables.cmake, and boards in tables.json or in the user's own file.

# cmsis_nn_delegate_core(<core>): sets CORE_CPU, CORE_FLAGS (a list), CORE_ISA, CORE_BOARD, and
# CORE_OTHER_FLAGS, the flags for a compiler that does not know CORE_CPU (may be empty).
function(cmsis_nn_delegate_core core)
  include(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tables.cmake)
  list(FIND CMSIS_NN_DELEGATE_CORES ${core} found) # a toolchain file has no policy for IN_LIST
  if(found EQUAL -1)
    list(JOIN CMSIS_NN_DELEGATE_CORES ", " known)
    message(FATAL_ERROR "unknown CORE=${core}; choose one of ${known}")
  endif()
  foreach(field IN ITEMS CPU FLAGS ISA BOARD OTHER_FLAGS)
    set(CORE_${field} "${CMSIS_NN_DELEGATE_CORE_${core}_${field}}" PARENT_SCOPE)
  endforeach()
endfunction()

# cmsis_nn_delegate_board(<board> <core> <image>): reads a board, given as a name from platforms/boards.bzl or as a JSON
# file (platforms/tools/board.py explains the format), and sets BOARD_NAME, BOARD_CLOCK_HZ, BOARD_UART, BOARD_UART_HEADER,
# BOARD_START (the sources of its own start-up code, may be empty), BOARD_QEMU_MACHINE (empty if QEMU does not run its
# images) and BOARD_QEMU_OPTIONS. Writes the linker script <image>.ld and <image>.board.json, which the simulators read beside <image>.elf. If the board cannot be used, the configuration
# fails with the reasons.
function(cmsis_nn_delegate_board board core image)
  set(tool ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/board.py)
  set(template ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../image.ld.in)
  set(tables ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tables.json)
  set(inputs ${tool} ${template} ${tables})
  if(board MATCHES "\\.json$")
    get_filename_component(board ${board} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
    list(APPEND inputs ${board})
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})
  cmsis_nn_delegate_core(${core})
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} ${tool} ${board} --core ${CORE_CPU} --template ${template} --script ${image}.ld
            --json ${image}.board.json --cmake ${image}.board.cmake
    RESULT_VARIABLE failed
    ERROR_VARIABLE message
  )
  if(failed)
    message(FATAL_ERROR "${message}")
  endif()
  include(${image}.board.cmake)
  foreach(field IN ITEMS NAME CLOCK_HZ UART UART_HEADER START QEMU_MACHINE QEMU_OPTIONS)
    set(BOARD_${field} "${BOARD_${field}}" PARENT_SCOPE)
  endforeach()
endfunction()
