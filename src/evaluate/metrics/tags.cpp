// Metrics of sequences: entities from tags, and lines of text (CTC, below).
//
// Entity F1 of tag scores [1,T,C]. The names of the classes define entities: "O", "B-PER", "I-PER", and in
// some schemes "E-PER" (end) and "S-PER" (single word). An entity begins at B or S, or at an I or E that does
// not follow a tag of its type. It is correct if its type and all its tokens are correct.
#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/text.h"
#include "data/class_rows.h"
#include "data/tensor.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

struct Tag {
  char part = 'O';  // O B I E S
  std::string type;
};

std::vector<Tag> tags_of(const std::vector<std::string>& names) {
  std::vector<Tag> tags;
  for (const std::string& name : names) {
    const bool has_part = name.size() > 2 && (name[1] == '-' || name[1] == '_') &&
                          std::string_view("BIESLU").find(name[0]) != std::string_view::npos;
    Tag tag;
    if (has_part) {  // L and U are aliases of E and S
      tag = {name[0] == 'L' ? 'E' : name[0] == 'U' ? 'S' : name[0], name.substr(2)};
    } else if (name != "O" && name != "o") {
      tag = {'I', name};
    }
    tags.push_back(std::move(tag));
  }
  return tags;
}

// Default names: O, then B and I of each type, the usual order. With an even number of classes there are no
// such pairs; then consecutive equal tags form one entity.
std::vector<std::string> usual_names(std::size_t classes) {
  std::vector<std::string> names = {"O"};
  for (std::size_t i = 1; i < classes; ++i)
    names.push_back(classes % 2 == 1 ? fmt::format("{}-{}", i % 2 == 1 ? 'B' : 'I', (i - 1) / 2)
                                     : fmt::format("{}", i));
  return names;
}

using Entity = std::tuple<std::size_t, std::size_t, std::string>;  // first and last token, type

std::set<Entity> entities(const std::vector<std::size_t>& sequence, const std::vector<Tag>& tags) {
  std::set<Entity> found;
  bool is_open = false;
  std::size_t begin = 0;
  std::string type;
  const auto close = [&](std::size_t end) {
    if (is_open) found.insert({begin, end, type});
    is_open = false;
  };
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const Tag& tag = tags[sequence[i]];
    const bool begins =
        tag.part != 'O' && (tag.part == 'B' || tag.part == 'S' || !is_open || type != tag.type);
    if (is_open && (tag.part == 'O' || begins)) close(i - 1);
    if (begins) {
      is_open = true;
      begin = i;
      type = tag.type;
    }
    if (tag.part == 'E' || tag.part == 'S') close(i);
  }
  if (!sequence.empty()) close(sequence.size() - 1);
  return found;
}

class TagMeter : public Meter {
 public:
  explicit TagMeter(const MeterSettings& settings) : output_(settings.output) {
    const data::ValueDescription& output = settings.outputs[settings.output];
    const std::optional<std::size_t> axis = class_axis(output);
    if (!axis || output.shape.size() != 3)
      throw Error(ErrorCode::kUsage,
                  fmt::format("`task=tag` needs an output [1,T,C] with a score for each tag, but '{}' is {}; "
                              "choose another output with `label_output`",
                              output.name, data::describe(output)));
    const auto classes = static_cast<std::size_t>(output.shape[*axis].value);
    if (!settings.tags.empty() && settings.tags.size() != classes)
      throw Error(ErrorCode::kUsage, fmt::format("`tags` has {} names, but '{}' has {} tags",
                                                 settings.tags.size(), output.name, classes));
    tags_ = tags_of(settings.tags.empty() ? usual_names(classes) : settings.tags);
  }

  void add(const Sample& sample) override {
    std::vector<std::size_t> ours = best_of(sample.reference[output_], sample.where),
                             theirs = best_of(sample.candidate[output_], sample.where), truth = ours;
    std::vector<bool> counts(ours.size(), true);
    if (sample.label != nullptr) {
      const std::vector<double> label = data::to_doubles(*sample.label, sample.where);
      if (label.size() != ours.size())
        throw Error(
            ErrorCode::kBadInput,
            fmt::format("the sample has {} labels, but the output has {} tokens", label.size(), ours.size()),
            sample.where);
      for (std::size_t i = 0; i < label.size(); ++i) {
        counts[i] = label[i] >= 0;
        if (label[i] >= static_cast<double>(tags_.size()))
          throw Error(ErrorCode::kBadInput,
                      fmt::format("the label {} is not one of the {} tags", label[i], tags_.size()),
                      sample.where);
        if (counts[i]) truth[i] = static_cast<std::size_t>(label[i]);
      }
    } else if (sample.mask.size() == ours.size()) {
      counts = sample.mask;
    }
    for (auto* sequence : {&ours, &theirs, &truth}) keep(*sequence, counts);
    const auto length = static_cast<double>(truth.size());
    tokens_.add({same(truth, ours), length}, {same(truth, theirs), length});
    const std::set<Entity> there = entities(truth, tags_);
    entities_.add(found(there, entities(ours, tags_)), found(there, entities(theirs, tags_)));
  }

  std::vector<MetricResult> results() const override {
    return {entities_.result("entity_f1", true, MetricUnit::kShare,
                             [](std::span<const double> sums) {
                               return sums[1] + sums[2] == 0 ? std::nan("")
                                                             : 2 * sums[0] / (sums[1] + sums[2]);
                             }),
            tokens_.mean("token_accuracy", true, MetricUnit::kShare)};
  }

 private:
  std::vector<std::size_t> best_of(const data::TensorView& view, const std::string& where) const {
    if (view.dims.size() != 3 || view.dims[2] != static_cast<std::int64_t>(tags_.size()))
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the output is {}, without the {} tags that the model declares",
                              data::describe(view.type, view.dims), tags_.size()),
                  where);
    std::vector<float> floats;
    const data::ClassRows rows(data::floats_of(view, floats, where), view.dims, 2);
    std::vector<std::size_t> best;
    for (std::size_t row = 0; row < rows.rows(); ++row) best.push_back(rows.best(row));
    return best;
  }

  static void keep(std::vector<std::size_t>& sequence, const std::vector<bool>& counts) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      if (counts[i]) kept.push_back(sequence[i]);
    }
    sequence = std::move(kept);
  }

  static double same(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
    double count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 1 : 0;
    return count;
  }

  // The numbers of correct, true and predicted entities.
  static std::vector<double> found(const std::set<Entity>& there, const std::set<Entity>& answers) {
    const auto right = std::count_if(answers.begin(), answers.end(),
                                     [&](const Entity& entity) { return there.contains(entity); });
    return {static_cast<double>(right), static_cast<double>(there.size()),
            static_cast<double>(answers.size())};
  }

  std::size_t output_;
  std::vector<Tag> tags_;
  SampleSums entities_, tokens_;
};

}  // namespace

std::unique_ptr<Meter> make_tags(const MeterSettings& settings) {
  return std::make_unique<TagMeter>(settings);
}

// Accuracy of text lines recognized with CTC, from character scores [1,T,C] or [T,1,C]. The text is the best
// character of each step without repetitions and blanks. Measures the share of correct lines and the edit
// distance.

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
                    fmt::format("the label {} is not one of the {} characters", value, classes_),
                    sample.where);
      if (value >= 0) seen.label->push_back(static_cast<std::size_t>(value));  // negative: padding
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
          fmt::format(
              "`task=ctc` needs an output [1,T,C] with a score for each character, but this is "
              "{}; choose another output with `label_output`, or run one line at a time with `batch=1`",
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
