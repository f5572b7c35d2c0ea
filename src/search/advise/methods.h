// The methods (formats) that advise() tries, the schedule that measures them within a budget of time, and the
// thresholds that decide.
#pragma once

#include <ounce/search.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/machine.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::search {

// Model sizes in bytes: smaller than the first is small, larger than the second is large.
inline constexpr std::uint64_t kSmallModel = 10'000'000, kLargeModel = 50'000'000;

inline constexpr double kWorthwhileSpeed = 1.1;  // smallest speedup that makes a method useful
inline constexpr double kWorthwhileSize =
    0.8;  // largest share of the original bytes that makes a method useful

// Quality without labels.
inline constexpr double kLeastAgreement = .99;  // required top-1 agreement

// Data.
inline constexpr std::uint64_t kFewSamples = 100, kMostCalibration = 256;
inline constexpr std::uint64_t kLeastForNoise = 16;  // samples needed to estimate the SQNR

// Limits beyond which a risk is reported, and the share that makes dynamic INT8 worth trying.
inline constexpr double kDynamicShare = .05;  // of the weight bytes: needed in nodes with dynamic kernels
inline constexpr double kWideWeight = 40;     // largest value of a tensor / its root mean square
inline constexpr double kWideChannels = 100;  // range of the largest channel / that of the smallest
inline constexpr double kFloatShare = .2;     // of the nodes with weights, kept in FP32
inline constexpr std::uint64_t kTinyLayer = 4096;  // bytes of a weight

// The methods to try, the most promising ones for the family first: if time runs out, only the least
// promising ones are missing.
std::vector<Format> methods_for(const AdviseOptions& options, const FamilyFinding& family);

// Returns why a method is not tried; empty if it is.
std::string obstacle(Format format, const AdviseOptions& options, const FamilyFinding& family);

// Fills in sizes, the numbers of INT8 and FP32 nodes, and the reasons for the latter. Sets `why_not` if the
// format runs in INT8 but no node does: then measuring is pointless.
void describe(const QuantizeResult& made, MethodFinding& finding);

// The spread of a weight's values. It determines the error of 8-bit quantization.
struct WeightSpread {
  std::string name, op_type;
  double peak = 0;      // largest absolute value / root mean square of the tensor
  double channels = 1;  // range of the largest channel / range of the smallest
};

struct WeightSurvey {
  std::vector<WeightSpread> widest;  // over kWideWeight, the largest peak first
  std::vector<WeightSpread> uneven;  // over kWideChannels, the largest ratio first
  std::size_t weights = 0, tiny = 0;
  bool is_whole = true;  // false: the model was too large to read all weights
};

WeightSurvey survey_weights(const onnx::Model& model, const graph::Index& index);

// The schedule: the order in which methods are tried, and the share of the budget that each of them gets.
//
// A method is made, compared with the original and timed against it before the next one begins, so that all
// findings are complete when the time is up. If a faster method passes but has too few samples for the
// required confidence, more samples are compared before another method is tried. A method that does not fit
// into the remaining time is skipped in favor of cheaper ones. The most promising one is tried even if its
// estimate is somewhat too long, because early estimates are rough.
//
// MethodLab makes, compares and times methods for the schedule. Tests replace it by a script with a virtual
// clock.
class MethodLab {
 public:
  MethodLab() = default;
  virtual ~MethodLab() = default;
  MethodLab(const MethodLab&) = delete;
  MethodLab& operator=(const MethodLab&) = delete;

  virtual double left() const = 0;                          // remaining seconds of the budget
  virtual double making_estimate(Format format) const = 0;  // seconds to make and compare a method
  virtual double timing_estimate() const = 0;               // seconds of the shortest usable timing
  // Makes and compares the finding's method within `limit` seconds and fills in the finding. Sets
  // is_measured, or why_not and is_out_of_time.
  virtual void make(double limit, MethodFinding& finding) = 0;
  // Times the method against the original for about `seconds` in total. Keeps completed rounds.
  virtual void time(double seconds, MethodFinding& finding) = 0;
  // Seconds to compare enough samples for the required confidence; 0 if the data has too few.
  virtual double certainty_estimate(const MethodFinding& finding) const = 0;
  // Compares that many samples. Leaves the finding unchanged if this takes longer than `limit` seconds.
  virtual void compare_more(double limit, MethodFinding& finding) = 0;
};

// Tries the methods without why_not in their order. Returns the estimated seconds that were missing to
// measure the first three, which are the most promising ones; 0 if all three were measured.
double try_methods(MethodLab& lab, std::vector<MethodFinding>& methods);

// Writes command lines to paste into a shell. Model and data appear as the user named them, quoted.
class CommandWriter {
 public:
  CommandWriter(const AdviseOptions& options, const AdviseResult& result);

  std::string quantize(Format format) const;
  std::string tune() const;
  std::string verify_tuned() const;
  std::string verify(Format format) const;

 private:
  enum class Part { kAll, kCalibrating, kJudging };
  std::string data(bool with_labels, Part part) const;
  std::string runtime() const;
  std::string gates() const;
  std::string target() const;

  const AdviseOptions& options_;
  const AdviseResult& result_;
  std::vector<std::string> words_;
};

// The steps of advise() in the order of their calls: measure the methods, judge each of them, find risks and
// missing data, decide.

// Measures each method on the model within the budget of time.
//
// First the original is timed alone. Then each method makes a model in a temporary folder, which is compared
// with the original and timed against it (methods.h). Durations are estimated from earlier steps; steps that
// would not fit are skipped.
//
// Fills in the baseline, the methods, the numbers of samples and the notes. `clock` started with advise().
void measure_methods(const std::filesystem::path& model, const AdviseOptions& options, const Stopwatch& clock,
                     AdviseResult& result);

// Chooses the quality threshold by the data: the metric if there are labels, else top-1 agreement for a
// classifier, else the SQNR of the outputs (generated sound needs a higher one). A method is acceptable if it
// passes on unseen data with the confidence that verify() reports.
//
// `answers`: number of top-1 predictions to compare, counted as evidence (Tally::of); 0 if the model makes
// none. If they are too few to show 99 % agreement, the SQNR is used, which needs fewer samples.
Gates gates_for(const AdviseOptions& options, const FamilyFinding& family, double answers);

// Number of samples that show these gates at this confidence if no sample has a loss.
std::uint64_t least_samples(const Gates& gates, double confidence);

// Fills in the quality of a method from its comparison with the original.
void judge(const Gates& gates, const VerifyResult& compared, MethodFinding& finding);

// The risks of quantizing this model, each with the evidence in the graph or in the measurements.
std::vector<Risk> find_risks(const onnx::Model& model, const graph::Index& index,
                             const AdviseOptions& options, const AdviseResult& result);

// Lists the data that would improve the advice.
std::vector<std::string> find_missing(const AdviseOptions& options, const AdviseResult& result);

// The recommendation, from the measurements:
//
//   nothing to quantize, or already quantized                 do not quantize
//   a method is faster and good enough                        quantize with the fastest
//   a method is faster but loses too much, and there is data  tune: mixed precision that keeps the quality
//   nothing is faster so far, the model is not small          compress the weights
//   a method could still be faster and good enough            unknown: time, samples or data are missing
//   nothing is faster, the model is small                     do not quantize
//
// A method whose timing is too short or unreliable counts as neither faster nor slower.
//
// Fills in verdict, headline, reasons and commands.
void decide(const AdviseOptions& options, AdviseResult& result);

}  // namespace ounce::search
