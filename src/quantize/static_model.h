// The float model that candidates of a static search are made of, whatever its file format.
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

// A node that a recipe lets compute in INT8, and whose noise is worth finding.
struct IntegerNode {
  std::string output;               // names it
  std::vector<std::string> values;  // that are codes: what it takes, what it gives
  std::string label;
  double work = 0;  // multiplications for one sample
};

class StaticModel {
 public:
  StaticModel() = default;
  virtual ~StaticModel() = default;

  virtual const calibration::Ranges* ranges() const = 0;
  // The same with ranges of every second batch only (Observation::half), so that a candidate can be judged on
  // the other batches. Null when there is too little data for a split.
  virtual std::shared_ptr<const StaticModel> with_half_the_ranges() const = 0;
  // The same with its channels equalized between layers, and observed again; null when there is nothing to
  // equalize.
  virtual std::shared_ptr<const StaticModel> with_equal_channels(const QuantizeOptions& options) const = 0;
  virtual std::size_t equalized_pairs() const = 0;

  virtual std::size_t node_count() const = 0;
  // In the order of the graph.
  virtual std::vector<IntegerNode> integer_nodes(const Recipe& recipe, ThreadPool& pool) const = 0;
  // From the fastest assignment to the one with all nodes in FP32; each has more nodes in FP32 than those
  // before it. `noise`: that nodes bring to the outputs in INT8, by what they give; infinite: the node stays
  // in FP32.
  virtual std::vector<plan::NamedDivision> float_choices(
      const Recipe& recipe, const std::map<std::string, double>& noise) const = 0;

  // A model for measuring only, without the checks and the trial of a result. Returns its bytes.
  virtual std::uint64_t write_candidate(const Recipe& recipe, const std::filesystem::path& file,
                                        ThreadPool& pool) const = 0;
  virtual const char* candidate_name() const = 0;  // with the ending that runtimes know the format by

 protected:
  StaticModel(const StaticModel&) = default;
  StaticModel& operator=(const StaticModel&) = default;
};

}  // namespace ounce::quantization
