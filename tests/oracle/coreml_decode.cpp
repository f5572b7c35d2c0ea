// coreml_decode PACKAGE FOLDER: writes the dequantized weights of a package, for bench/coreml.py, which
// compares them with coremltools. Each weight is a file named by its number, in its own type (float16 or
// float32). The names of the weights are printed, one per line, in the order of the numbers.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "formats/coreml/file/constexpr.h"
#include "formats/coreml/file/reader.h"
#include "kernels/half.h"

namespace {

using namespace ounce;

void write_weight(const std::filesystem::path& path, const coreml::DecodedTensor& tensor) {
  std::ofstream file(path, std::ios::binary);
  if (tensor.type == coreml::DataType::kFloat16) {
    std::vector<std::uint16_t> halves(tensor.values.size());
    kernels::HalfStats stats;
    kernels::f32_to_f16(reinterpret_cast<const std::byte*>(tensor.values.data()), halves.size(),
                        halves.data(), stats);
    file.write(reinterpret_cast<const char*>(halves.data()), static_cast<std::streamsize>(halves.size() * 2));
  } else {
    file.write(reinterpret_cast<const char*>(tensor.values.data()),
               static_cast<std::streamsize>(tensor.values.size() * sizeof(float)));
  }
}

void decode(const std::filesystem::path& package, const std::filesystem::path& folder) {
  const coreml::Model model = coreml::read_model(package);
  coreml::validate(model);
  std::filesystem::create_directories(folder);
  std::size_t number = 0;
  const coreml::Block& block = *coreml::active_block(*coreml::main_function(model)->function);
  coreml::for_each_decoded(block, [&](const coreml::Operation& operation, const auto& outputs) {
    write_weight(folder / std::to_string(number++), outputs.back());
    std::printf("%s\n", std::string(operation.outputs.back()->name).c_str());
  });
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  try {
    decode(arguments[1], arguments[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "coreml_decode: %s\n", error.what());
    return 1;
  }
}
