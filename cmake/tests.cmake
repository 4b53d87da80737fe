# How tests that are not unit tests, fuzz targets and measurements are declared.
#
#   mire_script_test(integration kill SCRIPT kill.sh [ARGS ...] [SERIAL])
#       One script; becomes ctest "integration/kill" with label "integration". It finds the tree in $MIRE_SOURCE_DIR and
#       what was built in $MIRE_BINARY_DIR, with which sanitizer in $MIRE_SANITIZE,
#       by which emulator that runs (its words; empty: by none) in $MIRE_EMULATOR. SERIAL: it measures
#       time, so nothing runs beside it.
#   mire_fuzz(json SOURCES fuzz_json.c CORPUS dir... DEPS server_json)
#       One parser under fuzz (LLVMFuzzerTestOneInput). In preset fuzz: libFuzzer, run by target fuzz-json for $SECS seconds.
#       In every other preset: a program that replays its corpus, as ctest "fuzz/json".
#   mire_bench(gate SOURCES bench_gate.c DEPS sdk_gate)
#       One measurement, printed as text; run by target bench-gate, and by bench-all one after the other.

# Ends a test that hangs. No test takes so long, also where other programs use all processors.
set(MIRE_TEST_LIMIT_S 1200)

string(REPLACE ";" " " MIRE_EMULATOR "${CMAKE_CROSSCOMPILING_EMULATOR}")

function(mire_script_test label name)
  cmake_parse_arguments(T "SERIAL" "SCRIPT" "ARGS" ${ARGN})
  execute_process(COMMAND test -x ${CMAKE_CURRENT_SOURCE_DIR}/${T_SCRIPT} RESULT_VARIABLE refused)
  if(refused)
    message(FATAL_ERROR "${T_SCRIPT} is not executable: chmod +x ${CMAKE_CURRENT_SOURCE_DIR}/${T_SCRIPT}")
  endif()
  add_test(NAME ${label}/${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${T_SCRIPT} ${T_ARGS})
  set_tests_properties(${label}/${name} PROPERTIES LABELS ${label} TIMEOUT ${MIRE_TEST_LIMIT_S}
    ENVIRONMENT "MIRE_SOURCE_DIR=${CMAKE_SOURCE_DIR};MIRE_BINARY_DIR=${CMAKE_BINARY_DIR};MIRE_SANITIZE=${MIRE_SANITIZE};MIRE_EMULATOR=${MIRE_EMULATOR}")
  if(T_SERIAL)
    set_tests_properties(${label}/${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()

function(mire_fuzz name)
  cmake_parse_arguments(F "" "" "SOURCES;CORPUS;DEPS;LIBS" ${ARGN})
  set(target fuzz_${name})
  add_executable(${target} ${F_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE ${F_DEPS} ${F_LIBS} mire_flags)
  if(MIRE_SANITIZE STREQUAL "fuzzer")
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_custom_target(fuzz-${name}
      COMMAND ${CMAKE_SOURCE_DIR}/tests/fuzz/run.sh $<TARGET_FILE:${target}> ${CMAKE_BINARY_DIR}/corpus/${name} ${F_CORPUS}
      USES_TERMINAL VERBATIM COMMENT "Fuzzing ${name}")
    add_dependencies(fuzz fuzz-${name})
  else()
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
    add_test(NAME fuzz/${name} COMMAND ${target} ${F_CORPUS})
    set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz TIMEOUT ${MIRE_TEST_LIMIT_S})
  endif()
endfunction()

function(mire_bench name)
  cmake_parse_arguments(B "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  set(target bench_${name})
  add_executable(${target} ${B_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE ${B_DEPS} ${B_LIBS} mire_flags)
  target_compile_definitions(${target} PRIVATE MIRE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" MIRE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_custom_target(bench-${name} COMMAND ${target} USES_TERMINAL VERBATIM COMMENT "Measuring ${name}")
  add_dependencies(bench-all bench-${name})
endfunction()

# mire_script_bench(name SCRIPT bench_name.mjs): a measurement of the pages, which have to be built.
function(mire_script_bench name)
  cmake_parse_arguments(B "" "SCRIPT" "" ${ARGN})
  add_custom_target(bench-${name} COMMAND ${CMAKE_COMMAND} -E env MIRE_BINARY_DIR=${CMAKE_BINARY_DIR}
    ${CMAKE_CURRENT_SOURCE_DIR}/${B_SCRIPT} USES_TERMINAL VERBATIM COMMENT "Measuring ${name}")
  add_dependencies(bench-${name} mired mire_cli web)
  add_dependencies(bench-all bench-${name})
endfunction()

add_custom_target(bench-all)
add_custom_target(fuzz)
add_custom_target(fmt COMMAND ${CMAKE_SOURCE_DIR}/tests/structure/format.sh --fix USES_TERMINAL VERBATIM)
add_custom_target(tidy COMMAND ${CMAKE_SOURCE_DIR}/tests/structure/tidy.py ${CMAKE_BINARY_DIR} USES_TERMINAL VERBATIM)
