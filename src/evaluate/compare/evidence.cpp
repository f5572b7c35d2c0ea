#include "evaluate/compare/evidence.h"

#include <algorithm>
#include <cmath>

#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

double deviation_of(double distance) {
  return std::isfinite(distance) ? std::max(distance, 0.0) / kDeviationsOf95 : 0;
}

}  // namespace

void OutputEvidence::add(const OutputMeter& meter) {
  const Difference &now = meter.difference(), &loud = meter.for_sqnr();
  const auto values = static_cast<double>(now.values - before_.values);
  energy_.add(loud.reference - loud_before_.reference, loud.squared - loud_before_.squared,
              static_cast<double>(loud.values - loud_before_.values));
  distance_.add(now.absolute - before_.absolute, 0, values);
  squares_.add(now.squared - before_.squared, 0, values);
  before_ = now;
  loud_before_ = loud;
  others_.add(static_cast<double>(meter.other_answers() - other_answers_),
              static_cast<double>(meter.answers() - answers_));
  answers_ = meter.answers();
  other_answers_ = meter.other_answers();
  const OutputMeter::Decisions decisions = meter.all_decisions();
  flips_.add(static_cast<double>(decisions.flips - decisions_.flips),
             static_cast<double>(decisions.of - decisions_.of));
  pair_flips_.add(static_cast<double>(decisions.pair_flips - decisions_.pair_flips),
                  static_cast<double>(decisions.pairs - decisions_.pairs));
  decisions_ = decisions;
  decides_by_pairs_ = meter.decides_by_pairs();
  ++samples_;
}

void OutputEvidence::fill(OutputComparison& output) const {
  if (samples_ == 0) return;
  const Interval decibel = energy_.difference([](double energy) { return 10 * std::log10(energy); });
  output.sqnr_deviation_db = deviation_of(output.sqnr_db - decibel.low);
  const Interval distance = distance_.difference([](double mean) { return mean; });
  output.mean_abs_deviation = deviation_of(distance.high - output.mean_abs_diff);
  const Interval squares = squares_.difference([](double mean) { return mean; });
  output.mse_deviation = deviation_of(squares.high - output.mse);
  output.other_answers = others_.tally();
  output.other_decisions = (decides_by_pairs_ ? pair_flips_ : flips_).tally();
}

}  // namespace ounce::evaluate
