# Included after project() where a test builds everything for the host (CMAKE_PROJECT_cmsis_nn_delegate_INCLUDE), because
# nearly all of its time is the compiler's. Builds for cores compile every file as users do.

# Behind all flags of a target, those for kernels included.
foreach(_language C CXX)
  string(REPLACE " -o " " -O0 -o " CMAKE_${_language}_COMPILE_OBJECT "${CMAKE_${_language}_COMPILE_OBJECT}")
endforeach()

# Half of the time of a kernel is the headers that all of them include.
function(_precompile_headers)
  foreach(library own_calls tuned twins)
    target_precompile_headers(cmsis_nn_delegate_${library} PRIVATE <type_traits> runtime/kernels/portable/portable.h)
  endforeach()
  if(TARGET cmsis_nn_delegate_cmsis_nn)
    target_precompile_headers(cmsis_nn_delegate_cmsis_nn PRIVATE runtime/kernels/cmsis_nn/convert.h)
  endif()
endfunction()
# At the end of the file that includes this, which declares them.
cmake_language(DEFER CALL _precompile_headers)
