# cmsis_nn_delegate_model(): a PyTorch model in a CMake build. Also part of the installed package.

# cmsis_nn_delegate_model(<name> <file.py>:<function> CALIBRATION <file.npz> [TARGET <target>] [IO int8|float]
#                         [IO_PLACEMENT arena|caller] [MEMORIES <memory>...] [OPTIONS <option>...] [DEPENDS <file>...])
#
# Runs `cmsisnn compile` of the Python package cmsis_nn_delegate, which Python3_EXECUTABLE must have installed
# (`pip install ./aot`), and declares two libraries; the executable links one of them:
#
#   <name>       the payload as a constant array, <name>.h, and <name>.kernels.h with the table of the kernels that it
#                calls, so that the image links these alone; with the runtime that runs it
#   <name>_cpp   the model as C++ calls, <name>.h and <name>.model.h: the image links kernels alone. Not with MEMORIES
#
# The model is compiled again when one of its files, or of DEPENDS, changes. Paths are relative to the current source
# folder. TARGET is one that `cmsisnn targets` lists; the default is CORE of the toolchain file, or in Zephyr's build
# what Kconfig says. MEMORIES are the device's RAM as `cmsisnn compile --memory` takes it, the fastest first, such as
# dtcm=64K:activations,scratch,weights sram=256K; by default there is one arena of any size. OPTIONS are further options
# of `cmsisnn compile`, such as --max-arena 4096. All files are in ${CMAKE_CURRENT_BINARY_DIR}/<name>/. With CMSIS-NN in
# the build, the libraries link its kernels, else portable ones, which compute the same.
function(cmsis_nn_delegate_model name model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "CALIBRATION;TARGET;IO;IO_PLACEMENT" "MEMORIES;OPTIONS;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cmsis_nn_delegate_model(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT model MATCHES "^(.+\\.py):([A-Za-z_][A-Za-z_0-9]*)$")
    message(FATAL_ERROR "cmsis_nn_delegate_model(${name}): ${model} is not FILE.py:FUNCTION")
  endif()
  set(file ${CMAKE_MATCH_1})
  set(function ${CMAKE_MATCH_2})
  if(NOT arg_CALIBRATION)
    message(FATAL_ERROR "cmsis_nn_delegate_model(${name}): CALIBRATION must name an .npz file with representative inputs")
  endif()
  if(NOT arg_TARGET)
    set(arg_TARGET ${CMSIS_NN_DELEGATE_TARGET})
  endif()
  if(NOT arg_TARGET)
    if(NOT CORE)
      message(FATAL_ERROR "cmsis_nn_delegate_model(${name}): there is no CORE, so TARGET must name one")
    endif()
    # Our toolchain file knows it, with features that are switched off: cortex-m33+nodsp for cortex_m33_nodsp.
    set(arg_TARGET ${CORE_CPU})
    if(NOT arg_TARGET)
      string(REPLACE "_" "-" arg_TARGET ${CORE})
    endif()
  endif()
  if(NOT arg_IO)
    set(arg_IO int8)
  endif()
  if(NOT arg_IO_PLACEMENT)
    set(arg_IO_PLACEMENT arena)
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  foreach(path IN ITEMS file arg_CALIBRATION)
    cmake_path(ABSOLUTE_PATH ${path} BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  endforeach()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(outputs "")
  # C++ calls have one arena, and no init() that copies weights.
  set(forms --emit cpp)
  set(sources .model.h .model.cc)
  set(libraries ${name} ${name}_cpp)
  if(arg_MEMORIES)
    set(forms "")
    set(sources "")
    set(libraries ${name})
    foreach(memory IN LISTS arg_MEMORIES)
      list(APPEND forms --memory ${memory})
    endforeach()
  endif()
  set(outputs "")
  foreach(suffix IN ITEMS .pte .payload.bin .h .kernels.h .c ${sources} .graph.npz .report.txt .report.json)
    list(APPEND outputs ${folder}/${name}${suffix})
  endforeach()
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND
      ${Python3_EXECUTABLE} -m cmsis_nn_delegate compile ${file}:${function} --target ${arg_TARGET} --calibration
      ${arg_CALIBRATION} --io ${arg_IO} --io-placement ${arg_IO_PLACEMENT} --strict ${forms} --name ${name} -o
      ${folder} ${arg_OPTIONS}
    DEPENDS ${file} ${arg_CALIBRATION} ${arg_DEPENDS}
    COMMENT "Compiling model ${name} for ${arg_TARGET}"
    VERBATIM
  )
  # Otherwise two libraries, built at the same time, would each run the compiler.
  add_custom_target(${name}_files DEPENDS ${outputs})

  set(kernels cmsis_nn_delegate::tuned cmsis_nn_delegate::own_calls cmsis_nn_delegate::direct_calls)
  if(TARGET cmsis_nn_delegate::cmsis_nn)
    list(APPEND kernels cmsis_nn_delegate::cmsis_nn)
  endif()
  add_library(${name} STATIC ${folder}/${name}.c)
  target_compile_features(${name} PRIVATE c_std_11)
  target_link_libraries(${name} PUBLIC cmsis_nn_delegate::model)
  if(NOT arg_MEMORIES)
    add_library(${name}_cpp STATIC ${folder}/${name}.model.cc)
    target_compile_features(${name}_cpp PUBLIC cxx_std_17)
  endif()
  foreach(library IN LISTS libraries)
    add_dependencies(${library} ${name}_files)
    target_include_directories(${library} PUBLIC ${folder})
    target_link_libraries(${library} PUBLIC ${kernels})
  endforeach()
endfunction()
