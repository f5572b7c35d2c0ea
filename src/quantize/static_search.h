// Finds by measuring what no statistics tell: which calibration suits a model, and which few of its nodes are
// better left in floats.
//
// 1. Each calibration method makes a model; the one whose outputs are closest to the original's wins.
//    If equalizing the channels between layers brings them closer, that is done.
// 2. While the outputs are not close enough, nodes stay in floats that make the largest errors for the time
//    that is lost by it (float_nodes.h), but not much of it, and next to none for outputs that are close. The
//    calibration is looked at again then: what it does drowned in their noise.
// 3. Below 20 dB a model does not do its work: nodes stay in floats until it does, as long as it is faster
//    than in floats. If that cannot be had, all of them stay there; StaticResult::why_floats says so then.
// 4. While the outputs are still not close enough, other ranges are tried for the values around the nodes
//    with the largest errors.
//
// Every step is taken because a measurement says so, on the calibration data and without labels; where there
// is data enough, on the half of it that the ranges have not seen: ranges that cut off what is rare look good
// on what they were made of. Where a sample costs much, steps are found on few and confirmed on more. How
// much is tried is counted in multiplications, each stage has its share of them, and the clock is asked only
// where a limit says so: the result is the same again.
#pragma once

#include <ounce/quantize.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/quality.h"
#include "quantize/candidate_error.h"
#include "quantize/prepared_model.h"

namespace ounce::quantization {

// From so many samples on, half of them tell enough: the one that ranges have not seen. With fewer, all are
// measured on.
inline constexpr std::uint64_t kManyForSearch = 64;

struct StaticLimits {
  double close_enough = Quality::kGood;  // dB; from here on no more effort is made, as it would fit noise …
  double good = 35;                      // dB; … but for what costs next to nothing
  // In multiplications: some fifteen seconds. Large models get what it takes to get anywhere.
  double most_work = 3.6e11;
  // A search that repairs what comes out: then nothing is spent on saving what would be all floats.
  bool others_go_on = false;
  // Asked before each step; once it says no, what is best so far is the result.
  std::function<bool()> has_time = [] { return true; };
};

struct StaticResult {
  std::shared_ptr<const PreparedModel> prepared;  // equalized if that is better
  Recipe recipe;
  std::string why_floats;  // nothing of it computes in INT8, as was found by measuring
};

// Adds notes. `limits` has to live as long as the search.
StaticResult search_static(const QuantizeOptions& options, const StaticLimits& limits,
                           const MakeErrorMeter& make_meter, std::shared_ptr<const PreparedModel> prepared,
                           const Recipe& recipe, std::vector<std::string>& notes);

}  // namespace ounce::quantization
