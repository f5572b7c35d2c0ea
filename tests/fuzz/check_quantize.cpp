// Checks quantize() without running models. The first byte of the input selects a recipe.
#include <ounce/quantize.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "fuzz/memory_file.h"
#include "fuzz/mutate_model.h"
#include "fuzz/on_paper.h"
#include "fuzz/promise.h"
#include "fuzz/targets.h"
#include "support/temporary_folder.h"

namespace ounce::test {
namespace {

std::vector<Recipe> make_recipes() {
  std::vector<Recipe> recipes(16);
  const auto give = [&](std::initializer_list<std::size_t> which, Format format) {
    for (const std::size_t i : which) recipes[i].format = format;
  };
  give({0, 1, 2, 3}, Format::kW8);
  give({4, 5, 6}, Format::kW4);
  give({7}, Format::kW16);
  give({8, 9}, Format::kFp16);
  give({10}, Format::kBf16);
  give({11, 12}, Format::kInt8Dynamic);
  give({13, 14, 15}, Format::kInt8);
  recipes[1].decoder = recipes[5].decoder = DecoderChoice::kDq;
  recipes[2].asymmetric = recipes[6].asymmetric = true;
  recipes[3].codebook = true;
  recipes[6].granularity = {GranularityKind::kBlock, 4};
  recipes[9].half.half_io = true;
  recipes[10].target = "cuda";  // has bfloat16 kernels
  recipes[12].integer.dynamic_conv = true;
  recipes[14].integer.dialect = Dialect::kQOperator;
  recipes[14].integer.integer_io = true;
  recipes[15].integer.activations = ActivationType::kS8;
  recipes[15].integer.symmetric_activations = true;
  for (Recipe& recipe : recipes) {
    recipe.min_bytes = 1;
    validate(recipe);
  }
  return recipes;
}

void quantize_file(const std::string& bytes, const Recipe& recipe) {
  static const TemporaryFolder folder;
  const MemoryFile file(bytes);
  const std::filesystem::path output = folder / "output.onnx";
  QuantizeOptions options;
  options.recipe = recipe;
  options.trial.is_wanted = false;
  options.threads = 1;
  quantize(file.path(), output, options);
  const onnx::Model written = onnx::read_model(output);
  graph::validate(written);
}

}  // namespace

void check_quantize(const std::string& bytes) {
  if (bytes.empty()) return;
  static const std::vector<Recipe> recipes = make_recipes();
  static ThreadPool pool(1);
  const Recipe& recipe = recipes[static_cast<unsigned char>(bytes[0]) % recipes.size()];
  const std::string model = bytes.substr(1);
  try {
    if (recipe.format == Format::kInt8) {
      integers_on_paper(model, recipe, pool);
    } else {
      quantize_file(model, recipe);
    }
  } catch (const Error& error) {
    promise(error.code() == ErrorCode::kBadInput || error.code() == ErrorCode::kUnsupported, error.what());
    promise(std::string_view(error.what()).find('\n') == std::string_view::npos,
            "a message has more than one line");
  }
}

std::string mutate_quantize(const std::string& bytes, std::uint64_t seed) {
  if (bytes.empty()) return bytes;
  const char recipe = seed % 8 == 0 ? static_cast<char>(seed / 8) : bytes[0];
  return recipe + mutate_model(bytes.substr(1), seed);
}

}  // namespace ounce::test
