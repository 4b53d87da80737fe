# mire_package(target...): installs libmire for apps: libraries, the headers of <mire/>, mire.pc for pkg-config and mireConfig.cmake
# for find_package. The tree that is installed can be moved.
include(CMakePackageConfigHelpers)

function(mire_package)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mire)
  install(TARGETS ${ARGN} EXPORT mireTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  set(headers mire.h context.h delivery.h memory.h exit.h store.h ping.h glib.h uv.h)
  list(TRANSFORM headers PREPEND ${CMAKE_SOURCE_DIR}/sdk/include/mire/)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mire)
  install(EXPORT mireTargets NAMESPACE mire:: DESTINATION ${package_dir})
  write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/mireConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_SOURCE_DIR}/cmake/mireConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/mireConfigVersion.cmake
    DESTINATION ${package_dir})
  file(RELATIVE_PATH mire_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" mire_up ${mire_up})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/mire.pc.in mire.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mire.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
