# find_package(mire): target mire::mire, the shared library.
# find_package(mire COMPONENTS static): also mire::mire_static, which needs the development files of libcurl and libzstd.
include(CMakeFindDependencyMacro)
if("static" IN_LIST mire_FIND_COMPONENTS)
  find_dependency(Threads)
  find_dependency(PkgConfig)
  pkg_check_modules(Curl REQUIRED IMPORTED_TARGET libcurl)
  pkg_check_modules(Zstd REQUIRED IMPORTED_TARGET libzstd)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/mireTargets.cmake)
set(mire_static_FOUND TRUE)
