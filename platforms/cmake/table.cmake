# Looks cores and boards up in tables.cmake.

# cmsis_nn_delegate_core(<core>): sets CORE_CPU, CORE_FLAGS (a list), CORE_ISA, CORE_BOARD, and
# CORE_SUBSTITUTE_FLAGS, for a compiler that does not know CORE_CPU; empty if there are none.
function(cmsis_nn_delegate_core core)
  include(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tables.cmake)
  list(FIND CMSIS_NN_DELEGATE_CORES ${core} found) # a toolchain file has no policy for IN_LIST
  if(found EQUAL -1)
    list(JOIN CMSIS_NN_DELEGATE_CORES ", " known)
    message(FATAL_ERROR "CORE=${core} is none of ${known}")
  endif()
  foreach(field IN ITEMS CPU FLAGS ISA BOARD SUBSTITUTE_FLAGS)
    set(CORE_${field} "${CMSIS_NN_DELEGATE_CORE_${core}_${field}}" PARENT_SCOPE)
  endforeach()
endfunction()

# cmsis_nn_delegate_board(<board>): sets BOARD_MACHINE, BOARD_UART, BOARD_UART_TYPE, BOARD_QEMU_OPTIONS, and
# BOARD_MEMORIES (for the linker script).
function(cmsis_nn_delegate_board board)
  include(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tables.cmake)
  foreach(field IN ITEMS MACHINE UART UART_TYPE QEMU_OPTIONS)
    set(BOARD_${field} ${CMSIS_NN_DELEGATE_BOARD_${board}_${field}} PARENT_SCOPE)
  endforeach()
  list(JOIN CMSIS_NN_DELEGATE_BOARD_${board}_MEMORIES "\n  " memories)
  set(BOARD_MEMORIES "  ${memories}\n" PARENT_SCOPE)
endfunction()
