# Every library Mire links, found once. A module names the one it needs: mire_module(... LIBS PkgConfig::Zstd).
if(ANDROID) # zstd of its sources; threads are in the C library, and the app sends (mire_options_set_transport)
  include(zstd)
  add_library(Threads::Threads INTERFACE IMPORTED)
  return()
endif()
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(Curl REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(Zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(Cmocka IMPORTED_TARGET cmocka)
pkg_check_modules(Glib IMPORTED_TARGET glib-2.0)
pkg_check_modules(Uv IMPORTED_TARGET libuv)
if(NOT MIRE_SDK_ONLY)
  pkg_check_modules(Brotli REQUIRED IMPORTED_TARGET libbrotlidec)
  pkg_check_modules(Pq REQUIRED IMPORTED_TARGET libpq)
  pkg_check_modules(Ssl REQUIRED IMPORTED_TARGET libssl libcrypto) # TLS of mired itself
  pkg_check_modules(Sodium REQUIRED IMPORTED_TARGET libsodium)
  pkg_check_modules(Deflate REQUIRED IMPORTED_TARGET libdeflate)
  pkg_check_modules(Lzma REQUIRED IMPORTED_TARGET liblzma)
  pkg_check_modules(Zlib REQUIRED IMPORTED_TARGET zlib)
  find_package(BZip2 REQUIRED) # BZip2::BZip2: not every version has a .pc file
  pkg_check_modules(Jansson REQUIRED IMPORTED_TARGET jansson) # bench-json compares with it; nothing else links it
endif()
