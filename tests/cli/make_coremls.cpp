// make_coremls FOLDER: writes the Core ML packages of the command-line tests into a folder.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "support/coreml_builder.h"
#include "support/temporary_folder.h"

int main(int count, char** arguments) {
  using namespace ounce;
  if (count != 2) return 2;
  const std::filesystem::path folder = arguments[1];
  try {
    coreml::small_coreml(7).write(folder / "small.mlpackage");
    coreml::small_coreml(9).write(folder / "small18.mlpackage");
    coreml::everything_coreml().write(folder / "everything.mlpackage");
    test::write_file(folder / "network.mlmodel", coreml::neural_network());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_coremls: %s\n", error.what());
    return 1;
  }
}
