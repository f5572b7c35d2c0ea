#include "quantize/float_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/quality.h"

namespace ounce::quantization {
namespace {

constexpr double kWorthAFloat = 0.5;     // smallest gain in dB that justifies FP32 nodes
constexpr double kNearBest = 1;          // dB below the most accurate assignment that are acceptable
constexpr double kSafe = 5;              // margin in dB above the minimum, for unseen data
constexpr double kFaster = 0.95;         // largest share of the FP32 time that counts as faster
constexpr double kMostFaster = 4;        // largest plausible speedup of INT8
constexpr double kShareOfGain = 1. / 3;  // largest share of the saved time that FP32 nodes may cost
constexpr double kAllWrong = 1;          // noise / signal from which outputs are useless; also used for NaN
constexpr std::size_t kMostLabels = 8;

std::string as_nodes(std::size_t count) { return fmt::format("{} node{}", count, count == 1 ? "" : "s"); }

}  // namespace

Recipe FloatChoice::in_floats(const Recipe& from, const std::vector<std::string>& outputs) {
  Recipe recipe = from;
  for (const std::string& output : outputs) recipe.nodes[output] = recipe.storage_of_remainder();
  return recipe;
}

std::vector<std::string> FloatChoice::on_integers(const Recipe& recipe) const {
  std::vector<std::string> outputs;
  for (const IntegerNode& node : budget_.nodes()) {
    if (!recipe.nodes.contains(node.output)) outputs.push_back(node.output);
  }
  return outputs;
}

double FloatChoice::noise_of(const std::string& output) const {
  const auto found = noise_.find(output);
  return found == noise_.end() ? 0 : found->second;
}

void FloatChoice::find_noise(double goal) {
  const std::vector<std::string> open = on_integers(budget_.best());
  const auto noise = [&](std::size_t first, std::size_t count) {
    std::vector<std::string> others = open;
    const auto begin = others.begin() + static_cast<std::ptrdiff_t>(first);
    others.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    return budget_.estimate(in_floats(budget_.best(), others));
  };
  const std::vector<double> noises = bisect_noise(open.size(), budget_.estimate_of_best(), noise_at(goal),
                                                  {noise, [this] { return budget_.may_spend(kForNoise); }});
  for (std::size_t i = 0; i < open.size(); ++i)
    noise_[open[i]] = noises[i] < kAllWrong ? noises[i] : kAllWrong;
}

std::vector<FloatChoice::Step> FloatChoice::steps(const Recipe& from) {
  const std::vector<std::string> open = on_integers(from);
  std::map<std::string, double> noise = noise_;
  for (const auto& [output, format] : from.nodes) noise[output] = std::numeric_limits<double>::infinity();
  const auto assignments = budget_.judged().float_choices(from, noise);
  if (assignments.empty()) return {};
  const double all_floats = assignments.back().time;
  if (!fastest_) fastest_ = assignments.front().time;
  // Fewer INT8 nodes cannot be faster. If the estimate says so, INT8 gains too little to decide.
  if (assignments.front().time < *fastest_) return {};
  const double reference = std::max({*fastest_, all_floats / kMostFaster, 1.0});
  std::vector<Step> found;
  for (const plan::NamedDivision& assignment : assignments) {
    Step step{from};
    for (const std::string& output : open) {
      if (assignment.floats.contains(output))
        step.floats.push_back(output);
      else
        step.noise += noise_of(output);
    }
    step.added = (assignment.time - *fastest_) / reference;
    step.is_worth_it = assignment.time - *fastest_ <= kShareOfGain * (all_floats - *fastest_);
    step.is_faster_than_floats = assignment.time <= kFaster * all_floats;
    const std::size_t before = found.empty() ? 0 : found.back().floats.size();
    if (step.floats.size() <= before || step.floats.size() == open.size()) continue;
    step.recipe = in_floats(from, step.floats);
    found.push_back(std::move(step));
  }
  return found;
}

// Returns the first step whose expected noise, by the noise of its nodes, is within the limit; else the last.
std::size_t FloatChoice::expected(const std::vector<Step>& steps, double limit) {
  double all = 0;
  for (const std::string& output : on_integers(budget_.best())) all += noise_of(output);
  // Scale to the total noise, which was measured more accurately than the noise of single nodes.
  const double scale = all > 0 ? std::min(budget_.least(), kAllWrong) / all : 0;
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return scale * step.noise <= limit; });
  return found == steps.end() ? steps.size() - 1 : static_cast<std::size_t>(found - steps.begin());
}

// Finds the first step whose noise, estimated on few samples, is within the limit, by bisection from the
// expected step and within the budget; else the last step.
std::size_t FloatChoice::first_within(const std::vector<Step>& steps, double limit, double share) {
  std::size_t first = 0, last = steps.size() - 1;  // the result is in this range
  for (std::size_t at = expected(steps, limit); first < last && budget_.may_spend(share);
       at = first + (last - first) / 2) {
    if (budget_.estimate(steps[at].recipe) <= limit)
      last = at;
    else
      first = std::min(at + 1, last);
  }
  return budget_.may_spend(share) ? last : std::clamp(expected(steps, limit), first, last);
}

// Finds a step that reaches `wanted` dB on all samples, beginning with the first one that does so on few
// samples. If there is none, returns the most accurate tried step with at least `least` dB. Makes the result
// the best recipe of the budget.
std::optional<std::size_t> FloatChoice::first_confirmed(const std::vector<Step>& steps, double wanted,
                                                        double least, bool may_be_long) {
  std::optional<std::size_t> found;
  double lowest = noise_at(least);
  for (std::size_t at = first_within(steps, noise_at(wanted), kForAll); at < steps.size();
       at += std::max<std::size_t>(1, (steps.size() - at) / 2)) {
    const double error = budget_.measure(steps[at].recipe);
    if (error <= lowest) {
      found = at;
      lowest = error;
    }
    if (found && lowest <= noise_at(wanted)) break;
    if (may_be_long ? !budget_.has_time() : !budget_.may_spend(kForAll)) break;
  }
  if (found) budget_.set_best(steps[*found].recipe, lowest);
  return found;
}

bool FloatChoice::leave(double goal, double most_time) {
  if (!budget_.may_spend(kForFloats)) return false;
  if (noise_.empty() || budget_.may_spend(kForNoise)) find_noise(goal);
  std::vector<Step> found = steps(budget_.best());
  std::erase_if(found, [&](const Step& s) { return s.added > most_time || !s.is_worth_it; });
  if (found.empty()) return false;
  const double worth_it = budget_.estimate_of_best() * noise_at(kWorthAFloat);
  const double dearest = budget_.estimate(found.back().recipe);
  if (!(dearest <= worth_it)) return false;
  const double limit = std::max(noise_at(goal), std::min(dearest / noise_at(kNearBest), worth_it));
  const double before = budget_.best_decibels(), confirmed = noise_at(before + kWorthAFloat);
  const Step& step = found[first_within(found, limit, kForFloats)];
  if (budget_.accept(step.recipe, confirmed)) {
    note_left(step, before);
    return true;
  }
  if (&step == &found.back() || !budget_.accept(found.back().recipe, confirmed)) return false;
  note_left(found.back(), before);
  return true;
}

bool FloatChoice::leave_until_acceptable(bool may_be_long) {
  const double wanted = Quality::kMinUsable + kSafe, before = budget_.best_decibels();
  if (noise_.empty() || budget_.may_spend(kForNoise)) find_noise(wanted);
  std::vector<Step> found = steps(budget_.best());
  std::erase_if(found, [](const Step& step) { return !step.is_faster_than_floats; });
  if (found.empty()) return false;
  const std::optional<std::size_t> at = first_confirmed(found, wanted, Quality::kMinUsable, may_be_long);
  if (!at) return false;
  left_.insert(found[*at].floats.begin(), found[*at].floats.end());
  notes_.push_back(fmt::format("{} kept in FP32, without which the outputs are unusable: {:.1f} → {:.1f} dB",
                               as_nodes(found[*at].floats.size()), before, budget_.best_decibels()));
  return true;
}

void FloatChoice::give_back(double goal) {
  const double before = budget_.best_decibels();
  if (left_.empty() || before < goal + kWorthAFloat || !budget_.may_spend(kForAll)) return;
  Recipe without = budget_.best();
  for (const std::string& output : left_) without.nodes.erase(output);
  std::vector<Step> found = steps(without);
  const auto is_left = [&](const std::string& output) { return left_.contains(output); };
  std::erase_if(found, [&](const Step& step) {
    const bool is_among_them = std::all_of(step.floats.begin(), step.floats.end(), is_left);
    return !is_among_them || step.floats.size() == left_.size();
  });
  found.insert(found.begin(), Step{without});
  const std::optional<std::size_t> at = first_confirmed(found, goal, goal, false);
  if (!at) return;
  notes_.push_back(fmt::format("{} moved back to INT8: {:.1f} → {:.1f} dB",
                               as_nodes(left_.size() - found[*at].floats.size()), before,
                               budget_.best_decibels()));
  left_ = {found[*at].floats.begin(), found[*at].floats.end()};
}

Recipe FloatChoice::all_in_floats() const { return in_floats(budget_.best(), on_integers(budget_.best())); }

void FloatChoice::note_left(const Step& step, double before) {
  left_.insert(step.floats.begin(), step.floats.end());
  std::vector<std::string> labels;
  for (const IntegerNode& node : budget_.nodes()) {
    const bool is_left = std::find(step.floats.begin(), step.floats.end(), node.output) != step.floats.end();
    if (is_left) labels.push_back(node.label);
  }
  const std::string names =
      labels.size() > kMostLabels ? as_nodes(labels.size()) : fmt::format("{}", fmt::join(labels, ", "));
  notes_.push_back(fmt::format("{} kept in FP32: {:.1f} → {:.1f} dB, {:.0f} % slower", names, before,
                               budget_.best_decibels(), 100 * std::max(step.added, 0.0)));
}

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

std::vector<double> bisect_noise(std::size_t count, double all, double harmless,
                                 const BisectionQuestions& ask) {
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
    // Without a measurement, assume the noise that the left half does not explain.
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

}  // namespace ounce::quantization
