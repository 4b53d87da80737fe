# How targets are declared.
#
#   mire_module(sdk_ring FOLDER sdk/src/ring SOURCES ring.c DEPS sdk_base LIBS ...)
#       One static library per folder of the tree. Headers are reached from the side's root: #include "ring/ring.h".
#   mire_unit_test(sdk ring SOURCES test_ring.c DEPS sdk_ring)
#       One cmocka program; becomes ctest "unit/sdk/ring".

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
option(MIRE_WERROR "Treat warnings as errors" OFF)

add_library(mire_flags INTERFACE)
target_compile_options(mire_flags INTERFACE -Wall -Wextra -Wshadow -Wpointer-arith -Wcast-qual
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes> -Wformat=2 -Wvla -fno-common -fstack-protector-strong)
target_compile_definitions(mire_flags INTERFACE _GNU_SOURCE MIRE_VERSION="${PROJECT_VERSION}")
if(MIRE_WERROR)
  target_compile_options(mire_flags INTERFACE -Werror)
endif()

function(mire_module name)
  cmake_parse_arguments(M "" "FOLDER" "SOURCES;DEPS;LIBS" ${ARGN})
  list(TRANSFORM M_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/${M_FOLDER}/)
  add_library(${name} STATIC ${M_SOURCES})
  if(name MATCHES "^sdk_")
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/sdk/include ${CMAKE_SOURCE_DIR}/sdk/src ${CMAKE_SOURCE_DIR}/sdk)
    set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET hidden)
  else()
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/server/src ${CMAKE_SOURCE_DIR}/server/symbolizer
      ${CMAKE_SOURCE_DIR}/server ${CMAKE_SOURCE_DIR}/sdk)
  endif()
  target_link_libraries(${name} PUBLIC ${M_DEPS} ${M_LIBS} PRIVATE mire_flags)
endfunction()

function(mire_unit_test side module)
  cmake_parse_arguments(T "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  set(target test_${side}_${module})
  add_executable(${target} ${T_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE ${T_DEPS} ${T_LIBS} PkgConfig::Cmocka mire_flags)
  target_compile_definitions(${target} PRIVATE MIRE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" MIRE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME unit/${side}/${module} COMMAND ${target})
  set_tests_properties(unit/${side}/${module} PROPERTIES LABELS unit TIMEOUT ${MIRE_TEST_LIMIT_S})
endfunction()
