#include "fuzz/check_coreml.h"

#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "formats/coreml/emit/emitted.h"
#include "formats/coreml/file/constexpr.h"
#include "formats/coreml/file/description.h"
#include "formats/coreml/file/network.h"
#include "formats/coreml/file/reader.h"
#include "formats/coreml/file/writer.h"
#include "formats/coreml/view/coreml_file.h"
#include "fuzz/promise.h"
#include "support/coreml_builder.h"

namespace ounce::test {
namespace {

std::string joined(const io::Rope& rope) {
  std::string text;
  for (const io::Rope::Piece& piece : rope.pieces()) text += io::Rope::bytes_of(piece);
  return text;
}

void check_views(const coreml::CoremlFile& file) {
  file.metadata();
  file.opsets();
  file.producer();
  file.external();
  file.outputs();
  file.table_rows();
  for (std::size_t graph = 0; graph < file.graphs().size(); ++graph) {
    for (std::size_t i = 0; i < file.graphs()[graph].nodes.size(); ++i) {
      file.attributes({graph, i});
      file.label({graph, i});
    }
    for (std::size_t i = 0; i < file.graphs()[graph].values.size(); ++i) {
      const auto& constant = file.graphs()[graph].values[i].constant;
      if (!constant) continue;
      const auto values = file.read({graph, i});
      std::vector<float> scratch;
      if (is_float_weight_type(constant->type) && values->floats().size() != 0)
        values->floats().values(0, values->floats().size(), scratch);
    }
  }
}

// Dequantizes compressed weights; they may be rejected.
void check_decoding(const coreml::Model& model) {
  const coreml::NamedFunction* const main = coreml::main_function(model);
  if (main == nullptr) return;
  unless_refused(
      [&] {
        coreml::for_each_decoded(*coreml::active_block(*main->function), [](const auto&, const auto&) {});
        return true;
      },
      Versions::kMayBeNewer);
}

// Plans compressed weights of each kind, which reads all values, and makes the model with them.
void check_quantizing(const coreml::Model& model) {
  if (!model.is_program()) return;
  const auto file = std::make_shared<const coreml::CoremlFile>(model);
  ThreadPool pool(1);
  for (const Format format : {Format::kW8, Format::kW4, Format::kW2, Format::kW16}) {
    Recipe recipe;
    recipe.format = format;
    recipe.min_bytes = 16;
    unless_refused(
        [&] {
          const coreml::Plan plan = coreml::make_plan(*file, recipe, pool);
          promise(coreml::CoremlEmitted(file, plan, {}).size({}) != 0, "the compressed model is empty");
          return true;
        },
        Versions::kMayBeNewer);
  }
}

void check_layers(const coreml::Model& model) {
  unless_refused([&] {
    for (const coreml::Layer& layer : coreml::read_layers(model)) {
      for (const coreml::LayerWeight& weight : layer.weights) coreml::decode(weight);
    }
    return true;
  });
}

}  // namespace

bool check_coreml(const std::string& bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) return false;
  std::memcpy(&size, bytes.data(), sizeof size);
  const std::string rest = bytes.substr(sizeof size);
  const std::map<std::string, std::string> weights = {
      {coreml::kTestWeights, rest.substr(std::min<std::size_t>(size, rest.size()))}};
  const std::string file = rest.substr(0, size);
  auto model = unless_refused([&] { return coreml::read_model_from_memory(file, weights, "input"); });
  if (!model) return false;
  promise(joined(coreml::serialize(*model)) == file, "an unchanged model is written differently");
  const std::string rewritten = joined(coreml::serialize(*model, true));
  const coreml::Model again = coreml::read_model_from_memory(rewritten, weights, "written");
  promise(joined(coreml::serialize(again, true)) == rewritten, "writing a model twice gives different bytes");
  const bool is_valid = unless_refused([&] {
                          coreml::validate(*model);
                          coreml::describe_model(*model);
                          return true;
                        }).has_value();
  if (!is_valid) return true;
  check_layers(*model);
  check_decoding(*model);
  check_quantizing(*model);
  unless_refused([&] {
    check_views(coreml::CoremlFile(*model));
    return true;
  });
  return true;
}

}  // namespace ounce::test
