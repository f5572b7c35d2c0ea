#include "make/noise_by_halves.h"

#include <algorithm>
#include <cmath>

namespace ounce::make {
namespace {

struct Section {
  std::size_t first = 0, count = 0;
  double noise = 0;
};

bool is_quieter(const Section& a, const Section& b) {
  if (a.noise != b.noise) return a.noise < b.noise;
  return a.first > b.first;  // the earlier one first
}

}  // namespace

std::vector<double> noise_by_halves(std::size_t count, double all, double harmless,
                                    const HalvingQuestions& ask) {
  std::vector<Section> settled, open;
  const auto put = [&](const Section& section) {
    const double share = harmless * static_cast<double>(section.count) / static_cast<double>(count);
    const bool is_settled = section.count == 1 || section.noise <= share;
    (is_settled ? settled : open).push_back(section);
    if (!is_settled) std::push_heap(open.begin(), open.end(), is_quieter);
  };
  if (count != 0) put({0, count, all});
  while (!open.empty() && ask.may_go_on()) {
    std::pop_heap(open.begin(), open.end(), is_quieter);
    const Section whole = open.back();
    open.pop_back();
    const std::size_t half = whole.count / 2;
    const double left = ask.noise(whole.first, half);
    put({whole.first, half, left});
    const Section right{whole.first + half, whole.count - half, 0};
    // Without an answer, what the left half does not explain.
    const double rest = std::isfinite(whole.noise) ? std::max(whole.noise - left, 0.0) : whole.noise;
    put({right.first, right.count, ask.may_go_on() ? ask.noise(right.first, right.count) : rest});
  }
  settled.insert(settled.end(), open.begin(), open.end());
  std::vector<double> noises(count);
  for (const Section& section : settled) {
    for (std::size_t i = 0; i < section.count; ++i)
      noises[section.first + i] = section.noise / static_cast<double>(section.count);
  }
  return noises;
}

}  // namespace ounce::make
