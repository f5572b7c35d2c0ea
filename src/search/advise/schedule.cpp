#include "search/advise/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "search/advise/rules.h"

namespace ounce::search {
namespace {

constexpr std::size_t kPromising = 3;  // methods that a budget should be long enough for
constexpr double kFirstChance = 2;     // times the time left: up to this estimate the first method is tried

class Trying {
 public:
  Trying(MethodLab& lab, std::vector<MethodFinding>& methods) : lab_(lab), methods_(methods) {}

  double run() {
    std::vector<MethodFinding*> open;
    for (MethodFinding& method : methods_) {
      if (method.why_not.empty()) open.push_back(&method);
    }
    // Twice, because the first pass shows how long methods take.
    try_all(try_all(open));
    time_again();
    for (MethodFinding& method : methods_) make_certain(method);
    double missing = 0;
    for (std::size_t i = 0; i < std::min(methods_.size(), kPromising); ++i) {
      const MethodFinding& method = methods_[i];
      if (method.is_out_of_time) missing += estimate(method);
      if (method.is_measured && method.speed_up.rounds < SpeedUp::kLeastRounds)
        missing += lab_.timing_estimate();
    }
    return missing;
  }

 private:
  double estimate(const MethodFinding& method) const {
    return lab_.making_estimate(method.format) + lab_.timing_estimate();
  }

  // Gives the ones that did not fit.
  std::vector<MethodFinding*> try_all(const std::vector<MethodFinding*>& open) {
    std::vector<MethodFinding*> left_out;
    for (std::size_t i = 0; i < open.size(); ++i) {
      MethodFinding& method = *open[i];
      const double wanted = estimate(method), chance = has_tried_ ? 1 : kFirstChance;
      if (wanted <= chance * lab_.left()) {
        attempt(method, left_out.size() + open.size() - i);
        continue;
      }
      method.is_out_of_time = true;
      method.why_not = fmt::format("no time: it takes about {:.0f} s", std::max(1.0, wanted));
      left_out.push_back(&method);
    }
    return left_out;
  }

  // An equal share of the time goes to each method; the time that making it leaves over goes to timing it.
  void attempt(MethodFinding& method, std::size_t methods_left) {
    has_tried_ = true;
    method.is_out_of_time = false;
    method.why_not.clear();
    const double before = lab_.left(), share = before / static_cast<double>(methods_left);
    lab_.make(std::max(before - lab_.timing_estimate(), before / 2), method);
    if (!method.is_measured) return;
    const double used = before - lab_.left();
    lab_.time(std::max(share - used, lab_.timing_estimate()), method);
    if (method.is_faster(kWorthwhileSpeed)) make_certain(method);
  }

  void make_certain(MethodFinding& method) {
    const double wanted = method.is_uncertain ? lab_.certainty_estimate(method) : 0;
    if (wanted > 0 && wanted <= lab_.left()) lab_.compare_more(lab_.left(), method);
  }

  // Methods that were cut short, or timed while the machine was busy, get the time that is left.
  void time_again() {
    for (MethodFinding& method : methods_) {
      if (method.is_measured && !method.is_timed() && lab_.timing_estimate() <= lab_.left())
        lab_.time(lab_.timing_estimate(), method);
    }
  }

  MethodLab& lab_;
  std::vector<MethodFinding>& methods_;
  bool has_tried_ = false;
};

}  // namespace

double try_methods(MethodLab& lab, std::vector<MethodFinding>& methods) { return Trying(lab, methods).run(); }

}  // namespace ounce::search
