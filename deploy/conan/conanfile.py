"""libmire for Conan 2: conan create deploy/conan (shared; -o "mire/*:shared=False" for the static library)."""

import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir
from conan.tools.gnu import PkgConfigDeps


class Mire(ConanFile):
    name = "mire"
    description = "Finds the code that makes a program hang or run out of memory on its users' machines."
    license = "Apache-2.0"
    topics = ("profiling", "monitoring", "hang", "memory")
    package_type = "library"
    languages = "C"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": True}

    def set_version(self):
        lists = pathlib.Path(self.recipe_folder, "../../CMakeLists.txt").read_text()
        self.version = self.version or re.search(r"^project\(.*VERSION ([0-9.]+)", lists, re.M).group(1)

    def export_sources(self):
        root = pathlib.Path(self.recipe_folder, "../..")
        for part in ("CMakeLists.txt", "LICENSE", "NOTICE", "cmake/*", "sdk/*"):
            copy(self, part, root, self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("libmire by Conan is for Linux on x86_64 and armv8; Android has an AAR, Apple's systems Package.swift")

    def requirements(self):
        self.requires("libcurl/[>=7.70 <9]")
        self.requires("zstd/[>=1.5 <2]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["MIRE_SDK_ONLY"] = True
        toolchain.cache_variables["BUILD_TESTING"] = False
        toolchain.generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        for text in ("LICENSE", "NOTICE"):
            copy(self, text, self.source_folder, pathlib.Path(self.package_folder, "licenses"))
        for folder in ("lib/cmake", "lib/pkgconfig"):  # Conan writes these for each that requires the package
            rmdir(self, pathlib.Path(self.package_folder, folder))
        for library in pathlib.Path(self.package_folder, "lib").glob("libmire.*"):
            if (library.suffix == ".a") == bool(self.options.shared):
                library.unlink()

    def package_info(self):
        self.cpp_info.libs = ["mire"]
        self.cpp_info.set_property("cmake_target_name", "mire::mire" if self.options.shared else "mire::mire_static")
        self.cpp_info.set_property("pkg_config_name", "mire")
        if not self.options.shared:
            self.cpp_info.system_libs = ["pthread", "dl"]
