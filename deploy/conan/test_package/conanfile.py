"""An app that is built against the package and starts the library, as in tests/integration/installed.sh."""

import pathlib

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class Test(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self, build_folder="../../../build/conan")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            app = pathlib.Path(self.build_folder, self.cpp.build.bindir, "app")
            self.run(f'"{app}" "{pathlib.Path(self.build_folder, "store")}"', env="conanrun")
