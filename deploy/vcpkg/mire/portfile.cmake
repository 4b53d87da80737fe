# libmire of this tree for vcpkg: vcpkg install mire --overlay-ports=deploy/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DMIRE_SDK_ONLY=ON
        -DBUILD_TESTING=OFF
        "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME mire CONFIG_PATH lib/cmake/mire)
vcpkg_fixup_pkgconfig()

# mire-run and its library are a package of the system's, not of an app.
file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/bin" "${CURRENT_PACKAGES_DIR}/debug/bin"
    "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/man"
)
file(REMOVE "${CURRENT_PACKAGES_DIR}/lib/libmire-preload.so" "${CURRENT_PACKAGES_DIR}/debug/lib/libmire-preload.so")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
