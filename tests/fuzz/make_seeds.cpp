// make_seeds FOLDER MODEL…: writes the seeds of the model fuzzers, FOLDER/model, FOLDER/tflite, FOLDER/coreml
// and FOLDER/quantize: small built models, and the structure of real ones.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/serializer.h"
#include "formats/tflite/file/writer.h"
#include "fuzz/sample_models.h"
#include "fuzz/sample_networks.h"
#include "fuzz/sample_tflites.h"
#include "support/coreml_builder.h"
#include "support/temporary_folder.h"

namespace {

// The model without its large weights, because mutations of weights find nothing.
std::string structure_of(const std::filesystem::path& path) {
  ounce::onnx::Model model = ounce::onnx::read_model(path);
  for (auto& tensor : model.proto.edit().graph.edit().initializers) {
    if (tensor->byte_count() < 64) continue;
    tensor.edit().dims = {0};
    tensor.edit().data = ounce::onnx::Borrowed{};
  }
  const ounce::onnx::Serialized serialized = serialize(model, ounce::onnx::Placement::kKeep, {});
  std::string bytes;
  for (const auto& piece : serialized.model.pieces()) bytes += ounce::onnx::Rope::bytes_of(piece);
  return bytes;
}

constexpr int kRecipes = 16;  // check_quantize.cpp

void make_networks(const std::filesystem::path& folder) {
  using namespace ounce::test;
  std::filesystem::create_directories(folder);
  const std::vector<std::string> networks = {integer_network(17),     integer_network(9),
                                             network_with_branches(), network_with_functions(),
                                             network_with_fills(17),  network_with_fills(9)};
  for (std::size_t i = 0; i < networks.size(); ++i) {
    for (int recipe = 0; recipe < kRecipes; ++recipe)
      write_file(folder / fmt::format("network{}_recipe{}", i, recipe),
                 static_cast<char>(recipe) + networks[i]);
  }
}

void make_tflites(const std::filesystem::path& folder) {
  using namespace ounce;
  std::filesystem::create_directories(folder);
  const tflite::Model everything = tflite::everything_tflite();
  test::write_file(folder / "small.tflite", to_bytes(tflite::small_tflite()));
  test::write_file(folder / "quantized.tflite", to_bytes(tflite::quantized_tflite()));
  test::write_file(folder / "unprepared.tflite", to_bytes(tflite::unprepared_tflite()));
  test::write_file(folder / "everything.tflite", tflite::with_archive(everything, true));
  test::write_file(folder / "behind.tflite", to_bytes(everything, 0));
}

void make_quantized_tflites(const std::filesystem::path& folder) {
  using namespace ounce;
  std::filesystem::create_directories(folder);
  constexpr int kTfliteRecipes = 6;  // check_tflite.cpp
  for (int recipe = 0; recipe < kTfliteRecipes; ++recipe) {
    const std::string first(1, static_cast<char>(recipe));
    test::write_file(folder / fmt::format("small_recipe{}", recipe),
                     first + to_bytes(tflite::small_tflite()));
    test::write_file(folder / fmt::format("everything_recipe{}", recipe),
                     first + to_bytes(tflite::everything_tflite()));
  }
}

void make_coremls(const std::filesystem::path& folder) {
  using namespace ounce;
  std::filesystem::create_directories(folder);
  test::write_file(folder / "small", joined(coreml::small_coreml()));
  test::write_file(folder / "everything", joined(coreml::everything_coreml()));
  test::write_file(folder / "network", coreml::joined(coreml::neural_network(), {}));
  for (const bool has_inputs : {false, true})
    test::write_file(folder / (has_inputs ? "compressed_inputs" : "compressed_attributes"),
                     joined(coreml::compressed_coreml(has_inputs)));
}

void make_seeds(int count, char** arguments) {
  make_networks(std::filesystem::path(arguments[1]) / "quantize");
  make_tflites(std::filesystem::path(arguments[1]) / "tflite");
  make_quantized_tflites(std::filesystem::path(arguments[1]) / "tflite_quantize");
  make_coremls(std::filesystem::path(arguments[1]) / "coreml");
  const std::filesystem::path folder = std::filesystem::path(arguments[1]) / "model";
  std::filesystem::create_directories(folder);
  for (const auto& sample : ounce::test::sample_models())
    ounce::test::write_file(folder / sample.name, sample.bytes);
  for (int i = 2; i < count; ++i) {
    const std::filesystem::path path = arguments[i];
    ounce::test::write_file(folder / path.stem(), structure_of(path));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  try {
    make_seeds(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_seeds: %s\n", error.what());
    return 1;
  }
}
