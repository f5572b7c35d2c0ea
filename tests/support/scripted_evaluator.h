// Test support: scripted measurements for a search, without models. Every layer has a noise per format and a
// share of the time; noises and times add up. Each measurement advances a virtual clock.
//
//   Script script;
//   script.layers = {{"a", 1000, {{Format::kW8, 1e-6}, {Format::kInt8, 1e-4}}}};
//   ScriptedSearch search(script, {.seconds = 60});
//   search.run();
#pragma once

#include <ounce/search.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "search/tune/evaluator.h"
#include "search/tune/search.h"

namespace ounce::search::test {

struct ScriptedLayer {
  std::string name;
  std::uint64_t values = 1000;
  std::map<Format, double> noise;  // noise-to-signal ratio at the outputs; 0 for formats that are not listed
  std::string op_type = "Gemm";
  std::map<Format, double> time = {};  // relative to FP32; 1 for formats that are not listed
};

struct Script {
  std::vector<ScriptedLayer> layers;
  double gate_db = 30;
  double judge_seconds = 0.5, noise_seconds = 0.1, load_seconds = 0.1;  // duration of a measurement
  // The measured speed of a recipe, given the speed that follows from its layers. Timed comparisons are
  // numbered from 0.
  std::function<double(const Recipe&, double speed, int timing)> speed = [](const Recipe&, double ratio,
                                                                            int) { return ratio; };
  // False: the machine is too busy during this timed comparison.
  std::function<bool(int timing)> is_quiet = [](int) { return true; };
  std::function<double(const Recipe&)> memory =
      {};  // after loading, relative to the original's; empty: unknown
  std::function<bool(const Candidate&)> adopt = [](const Candidate&) { return true; };
  std::string static_problem = {};  // why static INT8 cannot be made; else empty
  // Changes the trial of a judged recipe.
  std::function<void(const Recipe&, TuneTrial&)> judged = [](const Recipe&, TuneTrial&) {};
};

class ScriptedEvaluator : public Evaluator {
 public:
  ScriptedEvaluator(const Script& script, Clock& clock, double& now)
      : Evaluator(clock), script_(script), now_(now) {}

  std::vector<double> noises(const std::vector<Recipe>& recipes) override {
    clock_.count(recipes.size());
    std::vector<double> all;
    for (const Recipe& recipe : recipes) {
      pass(script_.noise_seconds);
      all.push_back(noise_of(recipe));
    }
    return all;
  }
  TuneTrial judge(const Recipe& recipe, const std::string& name) override {
    clock_.count(1);
    pass(script_.judge_seconds);
    ++judged;
    TuneTrial trial;
    trial.name = name;
    for (const TreatedLayer& treated : layers(recipe)) trial.bytes += bytes_of(treated);
    trial.ratio = static_cast<double>(trial.bytes) / static_cast<double>(original_bytes());
    const double noise = noise_of(recipe);
    trial.sqnr_db = noise > 0 ? -10 * std::log10(noise) : std::numeric_limits<double>::infinity();
    trial.passed = trial.sqnr_db >= script_.gate_db;
    script_.judged(recipe, trial);
    return trial;
  }
  std::optional<MeasuredMemory> memory(const Recipe& recipe) override {
    if (!script_.memory) return std::nullopt;
    return MeasuredMemory{{1, 1}, script_.memory(recipe)};
  }
  std::vector<TreatedLayer> layers(const Recipe& recipe) override {
    std::vector<TreatedLayer> all;
    for (const ScriptedLayer& layer : script_.layers) {
      TreatedLayer& treated = all.emplace_back();
      treated.layer.output = treated.layer.name = layer.name;
      treated.layer.op_type = layer.op_type;
      treated.layer.values = layer.values;
      const auto wish = recipe.nodes.find(layer.name);
      treated.format = wish != recipe.nodes.end() ? wish->second : recipe.format;
    }
    return all;
  }
  bool computes_on_integers(const Recipe& recipe) override { return recipe.is_integer(); }
  Resolution resolve_static(double, double) override {
    pass(script_.judge_seconds);
    Resolution found;
    found.problem = script_.static_problem;
    found.recipe.format = Format::kInt8;
    return found;
  }
  std::uint64_t original_bytes() const override {
    std::uint64_t bytes = 0;
    for (const ScriptedLayer& layer : script_.layers) bytes += 4 * layer.values;
    return bytes;
  }
  void keep_back(double seconds) override { kept_back_ = seconds; }

  int judged = 0, timings = 0;

 protected:
  std::vector<SpeedUp> measure_times(const std::vector<Recipe>& recipes, double seconds, int) override {
    pass(static_cast<double>(recipes.size() + 1) * (seconds + script_.load_seconds));
    std::vector<SpeedUp> speeds;
    for (const Recipe& recipe : recipes) {
      double before = 0, after = 0;
      for (std::size_t i = 0; i < script_.layers.size(); ++i) {
        const auto values = static_cast<double>(script_.layers[i].values);
        const auto& times = script_.layers[i].time;
        const auto time = times.find(layers(recipe)[i].format);
        before += values;
        after += values * (time != times.end() ? time->second : 1);
      }
      SpeedUp& speed = speeds.emplace_back();
      speed.ratio = speed.low = speed.high = script_.speed(recipe, before / after, timings);
      speed.rounds = 100;
      speed.is_reliable = script_.is_quiet(timings);
      speed.is_measurable = speed.is_reliable && std::abs(speed.ratio - 1) > 0.01;
    }
    ++timings;
    return speeds;
  }

 private:
  // Advances the clock. A measurement that exceeds the time stops when the time is up.
  void pass(double seconds) {
    const double most = clock_.left() - kept_back_;
    if (!clock_.counts_models() && seconds > most) {
      now_ += std::max(most, 0.0);
      throw Error(ErrorCode::kCancelled, "the time is up");
    }
    now_ += seconds;
  }
  double noise_of(const Recipe& recipe) {
    double noise = 0;
    const std::vector<TreatedLayer> treated = layers(recipe);
    for (std::size_t i = 0; i < treated.size(); ++i) {
      const auto found = script_.layers[i].noise.find(treated[i].format);
      if (found != script_.layers[i].noise.end()) noise += found->second;
    }
    return noise;
  }
  static std::uint64_t bytes_of(const TreatedLayer& treated) {
    switch (treated.format) {
      case Format::kFp32: return 4 * treated.layer.values;
      case Format::kW16:
      case Format::kFp16: return 2 * treated.layer.values;
      case Format::kW4: return treated.layer.values / 2;
      default: return treated.layer.values;
    }
  }

  const Script& script_;
  double& now_;
  double kept_back_ = 0;
};

// A search with a scripted evaluator and virtual time.
class ScriptedSearch {
 public:
  ScriptedSearch(Script script, const Budget& budget, Objective objective = Objective::kBalanced)
      : script_(std::move(script)), clock(budget, [this] { return now; }) {
    options.budget = budget;
    options.objective = objective;
    options.gates.min_sqnr = script_.gate_db;
  }

  void run() { search.run(); }
  const Candidate& best() const { return *search.best(); }

 private:
  Script script_;

 public:
  TuneOptions options;
  double now = 0;
  Clock clock;
  ScriptedEvaluator evaluator{script_, clock, now};
  Search search{options, evaluator, clock, [this](const Candidate& best) { return script_.adopt(best); }};
};

}  // namespace ounce::search::test
