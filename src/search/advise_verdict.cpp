#include "search/advise_verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "search/advise_commands.h"
#include "search/advise_rules.h"

namespace ounce::search {
namespace {

std::string size_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value < 1e6) return fmt::format("{:.{}f} kB", value / 1e3, value < 1e4 ? 1 : 0);
  return fmt::format("{:.{}f} MB", value / 1e6, value < 1e8 ? 1 : 0);
}

std::string speed_text(const MethodFinding& method) {
  return method.speed_up.is_measurable ? fmt::format("{:.2f} × as fast", method.speed_up.ratio)
                                       : "as fast as the original";
}

// The fastest of those that are worth it and good enough, or not; the smaller one of two that are about as
// fast.
const MethodFinding* fastest(const AdviseResult& result, bool is_acceptable) {
  const MethodFinding* best = nullptr;
  for (const MethodFinding& method : result.methods) {
    if (!method.is_faster(kWorthwhileSpeed) || method.is_acceptable != is_acceptable) continue;
    if (best == nullptr) best = &method;
    const double ratio = method.speed_up.ratio / best->speed_up.ratio;
    if (ratio > kSameSpeed || (method.bytes < best->bytes && ratio * kSameSpeed > 1)) best = &method;
  }
  return best;
}

// The smallest of those that only store, are good enough and not slower. Four bits have to prove more.
const MethodFinding* smallest(const AdviseResult& result) {
  const MethodFinding* best = nullptr;
  for (const MethodFinding& method : result.methods) {
    const bool is_slower = method.speed_up.is_measurable && method.speed_up.ratio * kWorthwhileSpeed < 1;
    if (!method.is_measured || !is_storage(method.format) || !method.is_acceptable || is_slower) continue;
    const bool is_bold = method.format == Format::kW4 && !method.metric && method.sqnr_db < kFineSqnr;
    if (is_bold || method.ratio > kWorthwhileSize) continue;
    if (best == nullptr || method.bytes < best->bytes) best = &method;
  }
  return best;
}

class Deciding {
 public:
  Deciding(const AdviseOptions& options, AdviseResult& result)
      : options_(options), result_(result), commands_(options, result) {}

  void run() {
    if (leave_what_has_nothing()) return;
    const MethodFinding* best = fastest(result_, true);
    const MethodFinding* lossy = fastest(result_, false);
    const MethodFinding* small = smallest(result_);
    if (lossy != nullptr && !can_tune(*lossy)) lossy = nullptr;
    if (best != nullptr) {
      quantize(*best);
      // A good deal more speed would be there, for somebody who looks for it.
      if (lossy != nullptr && lossy->speed_up.ratio > kWorthwhileSpeed * best->speed_up.ratio)
        offer_tuning(*lossy);
    } else if (lossy != nullptr) {
      tune(*lossy);
    } else if (small != nullptr && result_.size != SizeClass::kSmall) {
      store(*small);
    } else {
      leave_as_not_worth_it();
    }
  }

 private:
  bool leave_what_has_nothing() {
    const FamilyFinding& family = result_.family;
    if (family.family == ModelFamily::kTrees) {
      leave("a tree or classical model has no weights to quantize");
      say("Its numbers are thresholds and votes: with fewer bits samples would take other branches, and no "
          "arithmetic would be saved.");
      say("Fewer or shallower trees make such a model smaller and faster.");
    } else if (family.is_quantized) {
      leave("it is quantized already");
      say("What is coded twice loses twice: start from the float model if another format is wanted.");
    } else if (family.weight_bytes == 0) {
      leave("there are no weights to quantize");
      say(fmt::format(
          "None of its {} kinds of ops multiplies with weights, so nothing can be stored smaller.",
          family.ops.size()));
    } else {
      return false;
    }
    return true;
  }

  bool can_tune(const MethodFinding& method) const {
    return !options_.data.is_generated() && method.sqnr_db > kHopelessSqnr && !is_storage(method.format);
  }

  void quantize(const MethodFinding& best) {
    result_.verdict = AdviceVerdict::kQuantize;
    result_.headline = fmt::format("quantize: {} is {} and {:.0f} % of the size; {}{}", name_of(best.format),
                                   speed_text(best), 100 * best.ratio, best.quality, on_what());
    if (result_.size == SizeClass::kSmall) {
      say(fmt::format("With {} it is small, and its size alone would not be worth a change; the speed is.",
                      size_text(result_.bytes)));
    } else {
      say(fmt::format("It shrinks from {} to {} and gets faster at once.", size_text(result_.bytes),
                      size_text(best.bytes)));
    }
    say(why(best));
    offer(best);
  }

  // Why this method does what it does.
  std::string why(const MethodFinding& best) const {
    const std::size_t all = best.integer_nodes + best.float_nodes;
    if (best.format == Format::kStatic) {
      return fmt::format("{} of {} ops compute on integers, with scales from {} calibration samples.",
                         best.integer_nodes, all, result_.calibration_samples);
    }
    if (best.format == Format::kDynamic) {
      return fmt::format(
          "{} of {} ops compute on integers, with scales found while it runs: no calibration can be "
          "wrong about an input, and Softmax, normalisation and masks stay in floats.",
          best.integer_nodes, all);
    }
    return "Its arithmetic stays that of the original.";
  }

  void tune(const MethodFinding& lossy) {
    result_.verdict = AdviceVerdict::kQuantize;
    const std::string_view name = name_of(lossy.format);
    result_.headline =
        fmt::format("quantize in part: {} is {} but loses too much ({}); let tune find the mix", name,
                    speed_text(lossy), lossy.quality);
    if (result_.family.family == ModelFamily::kAudioGenerator) {
      say(fmt::format("Its output is a wave that people hear: what {} in every layer adds to it is noise.",
                      name));
    } else {
      say(fmt::format("There is speed in it, but {} in every layer costs more quality than you want to give.",
                      name));
    }
    say("Usually a few layers make most of the error: with those in floats, the others may keep their "
        "speed.");
    result_.commands.push_back({commands_.tune(), "look for the fastest mix that keeps the quality"});
    result_.commands.push_back({commands_.verify_tuned(), "and prove it on samples that it has not seen"});
    offer_storage("if it finds none: the same arithmetic in a smaller file");
  }

  void store(const MethodFinding& small) {
    result_.verdict = AdviceVerdict::kStoreSmall;
    result_.headline = fmt::format("store small only: {} is {:.0f} % of the size at the same speed; {}{}",
                                   name_of(small.format), 100 * small.ratio, small.quality, on_what());
    say(result_.size == SizeClass::kLarge ? fmt::format("With {} every download counts: {} are left of it.",
                                                        size_text(result_.bytes), size_text(small.bytes))
                                          : fmt::format("{} become {}, with the same arithmetic.",
                                                        size_text(result_.bytes), size_text(small.bytes)));
    say(integer_results());
    offer(small);
  }

  void leave_as_not_worth_it() {
    if (is_unmeasured()) {
      leave(fmt::format("not before something is measured; {:g} s were too few", result_.budget));
    } else if (result_.size != SizeClass::kSmall) {
      leave("no method that was measured is both of use and good enough");
    } else if (options_.data.is_generated() && result_.family.family != ModelFamily::kMlp) {
      leave(fmt::format("{} is small, and what might make it faster needs data to be measured",
                        size_text(result_.bytes)));
    } else {
      leave(fmt::format("{} is small, and nothing makes it faster without harm", size_text(result_.bytes)));
    }
    say(integer_results());
    if (result_.size == SizeClass::kSmall && !is_unmeasured())
      say("A smaller file alone is not worth the risk and the work that every change of a model brings.");
    offer_storage("if the download matters after all");
  }

  // There was no time for a single method.
  bool is_unmeasured() const {
    const auto& methods = result_.methods;
    return std::none_of(methods.begin(), methods.end(),
                        [](const auto& method) { return method.is_measured; }) &&
           std::any_of(methods.begin(), methods.end(),
                       [](const auto& method) { return method.is_out_of_time; });
  }

  // What the methods that compute on integers came to.
  std::string integer_results() const {
    std::vector<std::string> parts;
    for (const MethodFinding& method : result_.methods) {
      if (method.format != Format::kStatic && method.format != Format::kDynamic) continue;
      if (method.is_out_of_time)
        parts.push_back(
            fmt::format("there was no time for {}: give a longer `budget`", name_of(method.format)));
      if (!method.is_measured) continue;
      parts.push_back(
          fmt::format("{} is {}{}", name_of(method.format), speed_text(method),
                      method.is_acceptable ? "" : fmt::format(" and loses too much ({})", method.quality)));
    }
    if (options_.data.is_generated())
      parts.emplace_back("static was not tried, as it needs data: give `data` and ask again");
    if (parts.empty()) return "No method that computes on integers could be measured.";
    return fmt::format("Integer arithmetic: {}.", fmt::join(parts, "; "));
  }

  void offer(const MethodFinding& method) {
    result_.commands.push_back({commands_.quantize(method.format), "make it"});
    if (!result_.is_generated)
      result_.commands.push_back({commands_.verify(method.format), "and prove it on your data"});
  }

  void offer_tuning(const MethodFinding& lossy) {
    result_.commands.push_back(
        {commands_.tune(), fmt::format("or look for more: {} is {}, but {}", name_of(lossy.format),
                                       speed_text(lossy), lossy.quality)});
    result_.commands.push_back({commands_.verify_tuned(), "and prove it on samples that it has not seen"});
  }

  void offer_storage(const std::string& why) {
    const MethodFinding* small = smallest(result_);
    if (small == nullptr) return;
    result_.commands.push_back({commands_.quantize(small->format),
                                fmt::format("{} ({:.0f} %; {})", why, 100 * small->ratio, small->quality)});
  }

  const char* on_what() const { return result_.is_generated ? " (on made-up inputs)" : ""; }

  void leave(const std::string& why) {
    result_.verdict = AdviceVerdict::kLeave;
    result_.headline = "do not quantize: " + why;
  }
  void say(std::string sentence) { result_.reasons.push_back(std::move(sentence)); }

  const AdviseOptions& options_;
  AdviseResult& result_;
  CommandWriter commands_;
};

}  // namespace

void decide(const AdviseOptions& options, AdviseResult& result) { Deciding(options, result).run(); }

}  // namespace ounce::search
