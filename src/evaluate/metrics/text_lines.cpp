// Text recognised with CTC: [1,T,C] or [T,1,C] scores of characters. The best of each step, repetitions and
// blanks left out, is the text; it is right as a whole, or so many edits away.
#include <fmt/format.h>
#include <ounce/error.h>

#include "base/text.h"
#include "data/class_rows.h"
#include "data/tensor.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

using Line = std::vector<std::size_t>;

double edits_between(const Line& a, const Line& b) { return static_cast<double>(edit_distance(a, b)); }

Line decoded(const Line& steps, std::size_t blank) {
  Line line;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] != blank && (i == 0 || steps[i] != steps[i - 1])) line.push_back(steps[i]);
  }
  return line;
}

class TextLineMeter : public Meter {
 public:
  explicit TextLineMeter(std::size_t output) : output_(output) {}

  void add(const Sample& sample) override {
    Seen& seen = seen_.emplace_back();
    seen.reference = steps_of(sample.reference[output_], sample.where);
    seen.candidate = steps_of(sample.candidate[output_], sample.where);
    for (const std::size_t best : seen.reference) {
      firsts_ += best == 0 ? 1U : 0U;
      lasts_ += best == classes_ - 1 ? 1U : 0U;
    }
    if (sample.label == nullptr) return;
    seen.label.emplace();
    for (const double value : data::to_doubles(*sample.label, sample.where)) {
      if (value >= static_cast<double>(classes_))
        throw Error(ErrorCode::kBadInput,
                    fmt::format("the label {} is none of the {} characters", value, classes_), sample.where);
      if (value >= 0) seen.label->push_back(static_cast<std::size_t>(value));  // below: filled up
    }
  }

  std::vector<MetricResult> results() const override {
    // The blank is the first class or the last one; most steps are blank.
    const std::size_t blank = lasts_ > firsts_ ? classes_ - 1 : 0;
    SampleSums lines, characters;
    for (const Seen& seen : seen_) {
      const Line ours = decoded(seen.reference, blank), theirs = decoded(seen.candidate, blank);
      Line truth = seen.label.value_or(ours);
      std::erase(truth, blank);
      const auto length = static_cast<double>(truth.size());
      lines.add({ours == truth ? 1.0 : 0.0, 1}, {theirs == truth ? 1.0 : 0.0, 1});
      characters.add({edits_between(truth, ours), length}, {edits_between(truth, theirs), length});
    }
    return {lines.mean("line_accuracy", true, MetricUnit::kShare),
            characters.mean("character_error_rate", false, MetricUnit::kRelative)};
  }

 private:
  struct Seen {
    Line reference, candidate;  // the best class of each step
    std::optional<Line> label;
  };

  Line steps_of(const data::TensorView& scores, const std::string& where) {
    const data::Dims& dims = scores.dims;
    const bool is_line = dims.size() == 3 ? dims[0] == 1 || dims[1] == 1 : dims.size() == 2;
    if (!is_line || dims.back() < 2)
      throw Error(
          ErrorCode::kUsage,
          fmt::format("`task=ctc` needs an output [1,T,C] with a score for each character, and this is "
                      "{}; `label_output` names another, `batch=1` runs one line at a time",
                      data::describe(scores.type, dims)),
          where);
    std::vector<float> floats;
    const data::ClassRows rows(data::floats_of(scores, floats, where), dims, dims.size() - 1);
    classes_ = rows.classes();
    Line steps;
    for (std::size_t row = 0; row < rows.rows(); ++row) steps.push_back(rows.best(row));
    return steps;
  }

  std::size_t output_, classes_ = 0;
  std::uint64_t firsts_ = 0, lasts_ = 0;
  std::vector<Seen> seen_;
};

}  // namespace

std::unique_ptr<Meter> make_text_lines(const MeterSettings& settings) {
  return std::make_unique<TextLineMeter>(settings.output);
}

}  // namespace ounce::evaluate
