// The thresholds by which advice is given, all in one place.
#pragma once

#include <ounce/advise.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::search {

// Sizes, in bytes: below the first a model is small, above the second large.
inline constexpr std::uint64_t kSmallModel = 10'000'000, kLargeModel = 50'000'000;

inline constexpr double kWorthwhileSpeed = 1.1;  // a method that brings less brings nothing
inline constexpr double kWorthwhileSize = 0.8;   // of the bytes: a method that leaves more saves nothing

// Quality, where there are no labels.
inline constexpr double kLeastAgreement = .99;  // of top-1 predictions

// Data.
inline constexpr std::uint64_t kFewSamples = 100, kMostCalibration = 256;
inline constexpr std::uint64_t kLeastForNoise = 16;  // samples that show how far outputs are off

// Signs of trouble.
inline constexpr double kDynamicShare = .05;       // of the weights in products: less is not worth a try
inline constexpr double kWideWeight = 40;          // largest value of a tensor, in its root mean squares
inline constexpr double kWideChannels = 100;       // ratio between the largest and the smallest channel
inline constexpr double kFloatShare = .2;          // of the nodes with weights that stay in floats
inline constexpr std::uint64_t kTinyLayer = 4096;  // bytes of a weight

// The methods that are tried on a model: which, in which order, at what cost, and what became of its nodes.

// In the order of expected use for the family: when the time is up, the least likely ones have not been
// tried.
std::vector<Format> methods_for(const AdviseOptions& options, const FamilyFinding& family);

// Why a method is not even tried; empty when it is.
std::string obstacle(Format format, const AdviseOptions& options, const FamilyFinding& family);

// Fills in what became of the bytes and the nodes. Integer arithmetic that reached no node is not worth
// measuring: then `why_not` says so.
void describe(const QuantizeResult& made, MethodFinding& finding);

// How wide the values of weights are: what decides how much eight bits lose.

struct WeightSpread {
  std::string name, op_type;
  double peak = 0;      // largest value, in root mean squares of the tensor
  double channels = 1;  // largest channel's range over the smallest one's
};

struct WeightSurvey {
  std::vector<WeightSpread> widest;  // by peak, the worst first, and only those over the limit …
  std::vector<WeightSpread> uneven;  // … likewise by channels
  std::size_t weights = 0, tiny = 0;
  bool is_whole = true;  // otherwise the model was too large to look at everything
};

WeightSurvey survey_weights(const onnx::Model& model, const graph::Index& index);

// The order in which methods are tried, and how much of the budget each of them gets.
//
// A method is made, compared with the original and timed against it before the next one begins, so that every
// finding is complete when the time is up. If a faster method passes but its samples are too few to be
// certain, more of them are compared before another method is tried. A method that does not fit into the time
// left makes room for cheaper ones. The most promising one is tried even if it seems to take somewhat too
// long, because estimates are rough before anything was made.

// Does the work. Tests answer from a script, on a virtual clock.
class MethodLab {
 public:
  MethodLab() = default;
  virtual ~MethodLab() = default;
  MethodLab(const MethodLab&) = delete;
  MethodLab& operator=(const MethodLab&) = delete;

  virtual double left() const = 0;                          // seconds of the budget
  virtual double making_estimate(Format format) const = 0;  // seconds to make a method and to compare it
  virtual double timing_estimate() const = 0;               // seconds of the shortest timing that is a result
  // Makes and compares the finding's method within so many seconds, and fills in the finding. Sets
  // is_measured, or why_not and is_out_of_time.
  virtual void make(double limit, MethodFinding& finding) = 0;
  // Times it against the original for about so many seconds in all. Completed rounds are kept.
  virtual void time(double seconds, MethodFinding& finding) = 0;
  // Seconds to compare as many samples as would make its quality certain; 0 if the data does not have them.
  virtual double certainty_estimate(const MethodFinding& finding) const = 0;
  // Does that, unless it takes longer than `limit` seconds: then the finding stays as it is.
  virtual void compare_more(double limit, MethodFinding& finding) = 0;
};

// Tries the methods that have no why_not, in their order. Gives the seconds, by estimate, that were missing
// to measure the first three, which are the most promising ones; 0 if these were measured.
double try_methods(MethodLab& lab, std::vector<MethodFinding>& methods);

// Command lines to paste: with the model and the data as the user named them, quoted for a shell.

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

}  // namespace ounce::search
