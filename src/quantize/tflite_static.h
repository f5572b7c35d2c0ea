// A TFLite model in a form for INT8 kernels, with statistics of its values on data. The static search queries
// it (static_model.h), and the result is made of it.
//
//   auto prepared = std::make_shared<const TfliteStatic>(source, options, pool);
//   prepared = prepared->observed(options);
//   const tflite::IntegerPlan plan = prepared->plan(recipe);
#pragma once

#include <ounce/quantize.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/tflite/plan/integer_plan.h"
#include "formats/tflite/view/tflite_file.h"
#include "model/emitter.h"
#include "quantize/static_model.h"

namespace ounce::quantization {

class TfliteStatic : public StaticModel {
 public:
  // `prepared` has float weights, in memory or in the file. `source` is where it came from, for people.
  TfliteStatic(std::shared_ptr<const tflite::TfliteFile> prepared, std::filesystem::path source,
               const QuantizeOptions& options, ThreadPool& pool);

  // The same with ranges, of the data or of a file. Throws Error{kUsage} when there is neither.
  std::shared_ptr<const TfliteStatic> observed(const std::string& source_digest,
                                               const QuantizeOptions& options) const;

  const std::shared_ptr<const tflite::TfliteFile>& file() const { return file_; }
  const std::shared_ptr<const tflite::IntegerModel>& integers() const { return integers_; }
  const std::vector<std::string>& notes() const { return notes_; }  // of observing

  tflite::IntegerPlan plan(const Recipe& recipe) const;

  const calibration::Ranges* ranges() const override { return ranges_.get(); }
  std::shared_ptr<const StaticModel> with_half_the_ranges() const override;
  std::shared_ptr<const StaticModel> with_equal_channels(const QuantizeOptions&) const override {
    return nullptr;
  }
  std::size_t equalized_pairs() const override { return 0; }
  std::size_t node_count() const override { return integers_->graph().operators.size(); }
  std::vector<IntegerNode> integer_nodes(const Recipe& recipe, ThreadPool& pool) const override;
  std::vector<plan::NamedDivision> float_choices(const Recipe& recipe,
                                                 const std::map<std::string, double>& noise) const override;
  std::uint64_t write_candidate(const Recipe& recipe, const std::filesystem::path& file,
                                ThreadPool& pool) const override;
  const char* candidate_name() const override { return "variant.tflite"; }

 private:
  std::shared_ptr<const tflite::TfliteFile> file_;
  std::filesystem::path source_;
  std::shared_ptr<const tflite::IntegerModel> integers_;
  std::shared_ptr<const calibration::Ranges> ranges_, half_;
  std::vector<std::string> notes_;
};

// A copy of the model that gives the values that a static plan may want ranges of.
model::Exposed expose(const tflite::IntegerModel& prepared);

}  // namespace ounce::quantization
