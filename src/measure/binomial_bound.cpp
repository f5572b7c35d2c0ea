#include "measure/binomial_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ounce::measure {
namespace {

// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300, kSame = 1e-15;
  constexpr int kMostSteps = 10'000;
  double c = 1, d = 1 / std::max(std::fabs(1 - (a + b) * x / (a + 1)), kTiny), result = d;
  const auto step = [&](double numerator) {
    d = 1 + numerator * d;
    c = 1 + numerator / c;
    if (std::fabs(d) < kTiny) d = kTiny;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    result *= d * c;
    return d * c;
  };
  for (int m = 1; m < kMostSteps; ++m) {
    step(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    const double change = step(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)));
    if (std::fabs(change - 1) < kSame) break;
  }
  return result;
}

// std::lgamma leaves the sign in a variable of the whole process, where threads would meet.
double log_gamma(double value) {
  int sign = 0;
  return ::lgamma_r(value, &sign);
}

// The share of a beta distribution below x.
double beta_share(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                   : 1 - front * beta_fraction(1 - x, b, a) / b;
}

// Where an increasing function of [low, high] reaches a value.
template <class Function>
double where(const Function& function, double value, double low, double high) {
  constexpr int kHalvings = 100;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (function(middle) < value ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

double binomial_upper(const Tally& events, double confidence) {
  if (events.of <= 0 || events.count >= events.of) return 1;
  return where([&](double x) { return beta_share(x, events.count + 1, events.of - events.count); },
               confidence, 0, 1);
}

double binomial_lower(const Tally& events, double confidence) {
  if (events.of <= 0 || events.count <= 0) return 0;
  return 1 - binomial_upper({events.of - events.count, events.of}, confidence);
}

double paired_upper(const Tally& lost, const Tally& won, double confidence) {
  if (lost.of <= 0 || won.of <= 0) return 1;
  const double lost_share = lost.count / lost.of, won_share = won.count / won.of;
  const double more_lost = binomial_upper(lost, confidence) - lost_share;
  const double less_won = won_share - binomial_lower(won, confidence);
  return std::min(1.0, lost_share - won_share + std::hypot(more_lost, less_won));
}

double normal_quantile(double share) {
  constexpr double kFar = 40;
  return where([](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }, share, -kFar, kFar);
}

double student_quantile(double share, double freedom) {
  if (freedom <= 0) return std::numeric_limits<double>::infinity();
  if (share < 0.5) return -student_quantile(1 - share, freedom);
  // t² / (freedom + t²) is beta distributed.
  const double x = where([&](double y) { return beta_share(y, 0.5, 0.5 * freedom); }, 2 * share - 1, 0, 1);
  return std::sqrt(freedom * x / (1 - x));
}

}  // namespace ounce::measure
