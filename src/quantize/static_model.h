// The floating-point model that candidates of a static search are made from, independent of the file format.
//
//   StaticModel           PreparedModel (ONNX), TfliteStatic
//
//   const auto nodes = model->integer_nodes(recipe, pool);
//   const auto choices = model->float_choices(recipe, noise);      // less noise for more time
//   model->write_candidate(recipe, file, pool);                    // for CandidateError
//   const auto half = model->with_half_the_ranges();
#pragma once

#include <ounce/quantize.h>
#include <ounce/recipe.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "calibration/ranges.h"
#include "plan/float_choice/frontier.h"

namespace ounce::quantization {

// A node that runs in INT8 with a recipe, and may be moved to FP32.
struct IntegerNode {
  std::string output;               // identifies the node
  std::vector<std::string> values;  // its quantized inputs and outputs
  std::string label;
  double work = 0;  // multiplications per sample
};

class StaticModel {
 public:
  StaticModel() = default;
  virtual ~StaticModel() = default;

  virtual const calibration::Ranges* ranges() const = 0;
  // Returns the same model with ranges of every second batch only (Observation::half), so that candidates can
  // be tested on the other batches. Null if there is too little data for a split.
  virtual std::shared_ptr<const StaticModel> with_half_the_ranges() const = 0;
  // Returns the model after cross-layer equalization and another calibration; null if there is nothing to
  // equalize.
  virtual std::shared_ptr<const StaticModel> with_equal_channels(const QuantizeOptions& options) const = 0;
  virtual std::size_t equalized_pairs() const = 0;

  virtual std::size_t node_count() const = 0;
  // In the order of the graph.
  virtual std::vector<IntegerNode> integer_nodes(const Recipe& recipe, ThreadPool& pool) const = 0;
  // Returns assignments of nodes to INT8 and FP32, from the fastest to the one with all nodes in FP32; each
  // has more nodes in FP32 than those before it. `noise`: output noise caused by a node in INT8, by node
  // output; infinite: the node must be in FP32.
  virtual std::vector<plan::NamedDivision> float_choices(
      const Recipe& recipe, const std::map<std::string, double>& noise) const = 0;

  // Writes a model for measuring only, without the checks of a result. Returns its bytes.
  virtual std::uint64_t write_candidate(const Recipe& recipe, const std::filesystem::path& file,
                                        ThreadPool& pool) const = 0;
  virtual const char* candidate_name() const = 0;  // a file name with the extension of the format

 protected:
  StaticModel(const StaticModel&) = default;
  StaticModel& operator=(const StaticModel&) = default;
};

}  // namespace ounce::quantization
