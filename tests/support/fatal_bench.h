// Test support: the parts of a search, for a model whose layer "third" loses all accuracy in INT8 (see
// support/fatal_layer.h) and that is judged by its outputs. No measurement is written to a file.
//
//   FatalBench bench;
//   repair(bench.evaluator, recipe_in(Format::kW8), 30, [](double) { return true; });
#pragma once

#include <ounce/search.h>

#include <filesystem>
#include <string>

#include "quantize/recipe_json.h"
#include "search/tune/evaluator.h"
#include "search/tune/journal.h"
#include "search/tune/measuring_evaluator.h"
#include "search/tune/onnx_candidates.h"
#include "search/tune/recorded_reference.h"
#include "support/fatal_layer.h"
#include "support/npy_bytes.h"
#include "support/temporary_folder.h"

namespace ounce::search::test {

inline Recipe recipe_in(Format format) {
  Recipe recipe;
  recipe.format = format;
  return quantization::as_it_is(recipe);
}

class FatalBench {
 public:
  explicit FatalBench(double min_sqnr = kDefaultTuneSqnr, const std::string& target = {})
      : options(options_of(min_sqnr, target)),
        split(split_data(model, options.runtime, options.data)),
        maker(model, making_of(split, target)) {}

  ounce::test::TemporaryFolder folder;
  std::filesystem::path model = folder / "model.onnx";
  TuneOptions options;
  Split split;
  OnnxCandidates maker;
  Journal journal{std::filesystem::path()};
  Clock clock{Budget{}};
  MeasuringEvaluator evaluator{options, split, maker, journal, clock};

 private:
  TuneOptions options_of(double min_sqnr, const std::string& target) const {
    const ounce::test::FatalLayer fatal;
    ounce::test::write_file(model, fatal.model);
    ounce::test::write_file(folder / "x.npy", npy_bytes(fatal.kSamples, fatal.kWidth, fatal.inputs));
    TuneOptions made;
    made.data.path = folder / "x.npy";
    made.gates.min_sqnr = min_sqnr;
    made.target = target;
    return made;
  }
  static QuantizeOptions making_of(const Split& parts, const std::string& target) {
    QuantizeOptions made;
    made.recipe.target = target;
    made.trial.data = parts.search.data;
    return made;
  }
};

}  // namespace ounce::search::test
