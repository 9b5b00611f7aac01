# Installs the package that find_package(cmsis_nn_delegate) finds. In an ExecuTorch tree there is no package:
# the tree uses the targets directly.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

include(CMakePackageConfigHelpers)

get_property(_libraries GLOBAL PROPERTY CMSIS_NN_DELEGATE_LIBRARIES)
get_property(_headers GLOBAL PROPERTY CMSIS_NN_DELEGATE_HEADERS)
set(_include ${CMAKE_INSTALL_INCLUDEDIR}/cmsis_nn_delegate)
set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/cmsis_nn_delegate)

install(TARGETS ${_libraries} EXPORT cmsis_nn_delegate)
install(
  EXPORT cmsis_nn_delegate
  NAMESPACE cmsis_nn_delegate::
  DESTINATION ${_package}
  FILE targets.cmake
)
# With their folders, because they are included as "runtime/...".
foreach(_header IN LISTS _headers)
  cmake_path(RELATIVE_PATH _header BASE_DIRECTORY ${CMSIS_NN_DELEGATE_ROOT} OUTPUT_VARIABLE _relative)
  cmake_path(GET _relative PARENT_PATH _folder)
  install(FILES ${_header} DESTINATION ${_include}/${_folder})
endforeach()

configure_package_config_file(
  cmake/config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/cmsis_nn_delegate-config.cmake
  INSTALL_DESTINATION ${_package}
)
# Like ExecuTorch, this package promises no compatibility between minor versions.
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/cmsis_nn_delegate-config-version.cmake
  COMPATIBILITY SameMinorVersion
)
install(
  FILES ${CMAKE_CURRENT_BINARY_DIR}/cmsis_nn_delegate-config.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/cmsis_nn_delegate-config-version.cmake
        cmake/executorch.cmake cmake/model.cmake
  DESTINATION ${_package}
)
