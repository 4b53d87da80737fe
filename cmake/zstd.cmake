# libzstd of its sources, as small as a device needs it: the target PkgConfig::Zstd where no machine's library can be linked.
#
#   MIRE_ZSTD_SOURCE  the folder with lib/zstd.h (sdk/android/zstd.sh gets Debian's)
#
# Reports are compressed at level 9: the strategies above it are left out. Decompressing serves mire_options_set_before_send
# alone, so it is small rather than fast. Nothing is thrown through zstd and its frames are chained by pointers: no unwind tables.
set(MIRE_ZSTD_SOURCE ${CMAKE_SOURCE_DIR}/build/zstd CACHE PATH "zstd's sources")
if(NOT EXISTS ${MIRE_ZSTD_SOURCE}/lib/zstd.h)
  message(FATAL_ERROR "${MIRE_ZSTD_SOURCE}/lib/zstd.h is missing; run sdk/android/zstd.sh, or set MIRE_ZSTD_SOURCE")
endif()
file(GLOB zstd_files ${MIRE_ZSTD_SOURCE}/lib/common/*.c ${MIRE_ZSTD_SOURCE}/lib/compress/*.c ${MIRE_ZSTD_SOURCE}/lib/decompress/*.c)
add_library(zstd_small STATIC ${zstd_files})
target_include_directories(zstd_small PUBLIC ${MIRE_ZSTD_SOURCE}/lib)
target_compile_options(zstd_small PRIVATE -Oz -ffunction-sections -fno-omit-frame-pointer -fno-asynchronous-unwind-tables
  -fno-unwind-tables -w)
target_compile_definitions(zstd_small PRIVATE ZSTD_DISABLE_ASM=1 ZSTD_LEGACY_SUPPORT=0 ZSTD_STRIP_ERROR_STRINGS=1 ZSTD_NO_INLINE=1
  DYNAMIC_BMI2=0 HUF_FORCE_DECOMPRESS_X1=1 ZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT=1 ZSTD_NO_TRACE=1 DEBUGLEVEL=0
  "ZSTDLIB_VISIBLE=__attribute__((visibility(\"hidden\")))" "ZSTDERRORLIB_VISIBLE=__attribute__((visibility(\"hidden\")))")
set_target_properties(zstd_small PROPERTIES C_VISIBILITY_PRESET hidden)
add_library(PkgConfig::Zstd ALIAS zstd_small)
