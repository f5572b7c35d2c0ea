// Metrics that compare outputs with labels: accuracy, likelihood, calibration and F1 of classes, mean errors
// of numbers.

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "data/class_rows.h"
#include "data/tensor.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

constexpr std::int64_t kIgnored = -100;  // the ignore index of training frameworks
constexpr std::size_t kMostClassesOfF1 = 2000;

double as_it_is(double value) { return value; }

MetricResult result_of(std::string name, bool higher_is_better, MetricUnit unit, const PairedMean& mean,
                       const std::function<double(double)>& transform = as_it_is) {
  MetricResult result;
  result.name = std::move(name);
  result.higher_is_better = higher_is_better;
  result.unit = unit;
  result.reference = transform(mean.reference());
  result.candidate = transform(mean.candidate());
  const double sign = higher_is_better ? 1 : -1;
  const Interval interval = mean.difference(transform);
  result.drop = sign * (result.reference - result.candidate);
  result.drop_low = higher_is_better ? interval.low : -interval.high;
  result.drop_high = higher_is_better ? interval.high : -interval.low;
  return result;
}

// The judged output of one sample.
struct LabeledOutput {
  std::span<const float> reference, candidate;
  data::Dims dims;  // with a batch axis of 1
  const data::Tensor* label = nullptr;
  std::string where;
};

// The class axis of an output and the number of classes.
struct Classes {
  std::size_t axis, count;
};

Classes classes_of(const MeterSettings& settings) {
  const data::ValueDescription& output = settings.outputs[settings.output];
  const std::optional<std::size_t> axis = class_axis(output);
  if (axis) return {*axis, static_cast<std::size_t>(output.shape[*axis].value)};
  throw Error(ErrorCode::kUsage,
              fmt::format("class labels need an output with a score for each class, but '{}' is {}; "
                          "choose another output with `label_output`, or use `metric=mae` for numbers",
                          output.name, data::describe(output)));
}

// Checks the shape of an output, because the runtime only warns if it differs from the declared one.
const LabeledOutput& checked(const LabeledOutput& output, const Classes& classes) {
  const data::Dims& dims = output.dims;
  if (classes.axis < dims.size() && dims[classes.axis] == static_cast<std::int64_t>(classes.count))
    return output;
  throw Error(ErrorCode::kBadInput,
              fmt::format("the output is [{}], without the {} classes that the model declares for axis {}",
                          fmt::join(dims, ","), classes.count, classes.axis),
              output.where);
}

// The labels of one sample: one class for each row of scores.
class Rows {
 public:
  Rows(const LabeledOutput& output, const Classes& classes)
      : reference(checked(output, classes).reference, output.dims, classes.axis),
        candidate(output.candidate, output.dims, classes.axis),
        labels_(data::to_doubles(*output.label, output.where)) {
    if (labels_.size() != reference.rows()) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the sample has {} labels, but the output has {} rows of {} classes",
                              labels_.size(), reference.rows(), reference.classes()),
                  output.where);
    }
    for (const double label : labels_) {
      const bool is_class =
          label >= 0 && label < static_cast<double>(reference.classes()) && label == std::floor(label);
      if (!is_class && label != kIgnored) {
        throw Error(ErrorCode::kBadInput,
                    fmt::format("the label {} is not one of the {} classes", label, reference.classes()),
                    output.where);
      }
    }
  }

  // visit(row, class) for every row that counts.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t row = 0; row < labels_.size(); ++row) {
      if (labels_[row] != kIgnored) visit(row, static_cast<std::size_t>(labels_[row]));
    }
  }

  data::ClassRows reference, candidate;

 private:
  std::vector<double> labels_;
};

// Compares the judged output of both models with the label, or with the reference's prediction if a sample
// has no label.
class LabeledMeter : public Meter {
 public:
  void add(const Sample& sample) final {
    const data::TensorView& ours = sample.reference[output_];
    LabeledOutput output = {data::floats_of(ours, reference_, sample.where),
                            data::floats_of(sample.candidate[output_], candidate_, sample.where), ours.dims,
                            sample.label, sample.where};
    const data::Tensor own = sample.label == nullptr ? answer_of(ours, output) : data::Tensor();
    if (sample.label == nullptr) output.label = &own;
    add_labeled(output);
  }

 protected:
  explicit LabeledMeter(const MeterSettings& settings) : output_(settings.output) {}

 private:
  virtual void add_labeled(const LabeledOutput& output) = 0;
  virtual data::Tensor answer_of(const data::TensorView& view, const LabeledOutput& output) const = 0;

  std::size_t output_;
  std::vector<float> reference_, candidate_;
};

class ClassMeter : public LabeledMeter {
 protected:
  explicit ClassMeter(const MeterSettings& settings)
      : LabeledMeter(settings), classes_(classes_of(settings)) {}

  const Classes classes_;

 private:
  data::Tensor answer_of(const data::TensorView&, const LabeledOutput& output) const override {
    const data::ClassRows rows(checked(output, classes_).reference, output.dims, classes_.axis);
    data::Tensor answers{ElementType::kInt64, {static_cast<std::int64_t>(rows.rows())}, {}};
    answers.bytes.resize(rows.rows() * sizeof(std::int64_t));
    for (std::size_t row = 0; row < rows.rows(); ++row)
      data::values_of<std::int64_t>(answers)[row] = static_cast<std::int64_t>(rows.best(row));
    return answers;
  }
};

class Accuracy : public ClassMeter {
 public:
  explicit Accuracy(const MeterSettings& settings) : ClassMeter(settings) {}

  void add_labeled(const LabeledOutput& output) override {
    const Rows rows(output, classes_);
    double reference = 0, candidate = 0, reference_five = 0, candidate_five = 0, count = 0, lost = 0, won = 0;
    rows.for_each([&](std::size_t row, std::size_t label) {
      const auto [first, among] = hits(rows.reference, row, label);
      const auto [candidate_first, candidate_among] = hits(rows.candidate, row, label);
      reference += first;
      reference_five += among;
      candidate += candidate_first;
      candidate_five += candidate_among;
      lost += first > candidate_first ? 1 : 0;
      won += first < candidate_first ? 1 : 0;
      ++count;
    });
    top1_.add(reference, candidate, count);
    top5_.add(reference_five, candidate_five, count);
    lost_.add(lost, count);
    won_.add(won, count);
  }

  std::vector<MetricResult> results() const override {
    std::vector<MetricResult> all = {result_of("top1_accuracy", true, MetricUnit::kShare, top1_)};
    all.front().lost = lost_.tally();
    all.front().won = won_.tally();
    if (classes_.count > data::kTop)
      all.push_back(result_of("top5_accuracy", true, MetricUnit::kShare, top5_));
    return all;
  }

 private:
  // Top-1 and top-5 hits: 1 if the label is the best class, or one of the five best.
  std::pair<double, double> hits(const data::ClassRows& rows, std::size_t row, std::size_t label) {
    rows.best(row, data::kTop, best_);
    return {best_.front() == label ? 1 : 0, std::count(best_.begin(), best_.end(), label)};
  }

  PairedMean top1_, top5_;
  EventCount lost_, won_;
  std::vector<std::size_t> best_;
};

// A row of scores as probabilities. Applies Softmax unless the row is a probability distribution already,
// because some models end in Softmax. The reference decides for both models: the candidate's probabilities
// may be rounded.
class Probabilities {
 public:
  Probabilities(const data::ClassRows& rows, std::size_t row, bool is_distribution)
      : rows_(rows), row_(row), is_distribution_(is_distribution) {
    if (is_distribution_) return;
    for (std::size_t i = 0; i < rows.classes(); ++i)
      largest_ = std::max<double>(largest_, rows.score(row, i));
    total_ = 0;
    for (std::size_t i = 0; i < rows.classes(); ++i) total_ += std::exp(rows.score(row, i) - largest_);
  }

  static bool are_in(const data::ClassRows& rows, std::size_t row) {
    constexpr double kRounded = 1e-3;  // rounding error of 16-bit floats
    double sum = 0;
    for (std::size_t i = 0; i < rows.classes(); ++i) {
      const double value = rows.score(row, i);
      if (!(value >= 0 && value <= 1 + kRounded)) return false;
      sum += value;
    }
    return std::fabs(sum - 1) <= kRounded;
  }

  double of(std::size_t of_class) const {
    const double score = rows_.score(row_, of_class);
    return is_distribution_ ? std::clamp(score, 0.0, 1.0) : std::exp(score - largest_) / total_;
  }
  double negative_log(std::size_t of_class) const {
    if (!is_distribution_) return largest_ + std::log(total_) - rows_.score(row_, of_class);
    return -std::log(std::max<double>(of(of_class), std::numeric_limits<float>::epsilon()));
  }

 private:
  const data::ClassRows& rows_;
  std::size_t row_;
  bool is_distribution_;
  double largest_ = std::numeric_limits<double>::lowest(), total_ = 1;
};

// visit(probabilities of the reference, of the candidate, row, class) for every row that counts.
template <class Visit>
void for_each_pair(const Rows& rows, Visit&& visit) {
  rows.for_each([&](std::size_t row, std::size_t label) {
    const bool is_distribution = Probabilities::are_in(rows.reference, row);
    visit(Probabilities(rows.reference, row, is_distribution),
          Probabilities(rows.candidate, row, is_distribution), row, label);
  });
}

class Nll : public ClassMeter {
 public:
  explicit Nll(const MeterSettings& settings) : ClassMeter(settings) {}

  void add_labeled(const LabeledOutput& output) override {
    double reference = 0, candidate = 0, count = 0;
    for_each_pair(Rows(output, classes_), [&](const Probabilities& ours, const Probabilities& theirs,
                                              std::size_t, std::size_t label) {
      reference += ours.negative_log(label);
      candidate += theirs.negative_log(label);
      ++count;
    });
    mean_.add(reference, candidate, count);
  }

  std::vector<MetricResult> results() const override {
    constexpr double kNoDoubt = 1e-4;  // nats: a drop relative to a smaller value would be meaningless
    std::vector<MetricResult> all = {result_of("nll", false, MetricUnit::kRelative, mean_),
                                     result_of("perplexity", false, MetricUnit::kRelative, mean_,
                                               [](double value) { return std::exp(value); })};
    all[0].rounding = kNoDoubt;
    return all;
  }

 private:
  PairedMean mean_;
};

// Brier score: the squared distances between probabilities and truth, summed over the classes and averaged
// over the rows. Halved for two classes, whose distances are equal.
class BrierScore : public ClassMeter {
 public:
  explicit BrierScore(const MeterSettings& settings) : ClassMeter(settings) {}

  void add_labeled(const LabeledOutput& output) override {
    double reference = 0, candidate = 0, count = 0;
    for_each_pair(Rows(output, classes_), [&](const Probabilities& ours, const Probabilities& theirs,
                                              std::size_t, std::size_t label) {
      reference += score(ours, label);
      candidate += score(theirs, label);
      ++count;
    });
    mean_.add(reference, candidate, count);
  }

  std::vector<MetricResult> results() const override {
    return {result_of("brier_score", false, MetricUnit::kShare, mean_)};
  }

 private:
  double score(const Probabilities& probabilities, std::size_t label) const {
    double sum = 0;
    for (std::size_t i = 0; i < classes_.count; ++i) {
      const double distance = probabilities.of(i) - (i == label ? 1 : 0);
      sum += distance * distance;
    }
    return classes_.count == 2 ? sum / 2 : sum;
  }

  PairedMean mean_;
};

// Expected calibration error: predictions are binned by their probability; the distances between mean
// probability and accuracy of the bins are averaged.
class CalibrationError : public ClassMeter {
 public:
  explicit CalibrationError(const MeterSettings& settings) : ClassMeter(settings), replicas_(kReplicas) {}

  void add_labeled(const LabeledOutput& output) override {
    const Rows rows(output, classes_);
    draw_weights(samples_++, weights_);
    for_each_pair(rows, [&](const Probabilities& ours, const Probabilities& theirs, std::size_t row,
                            std::size_t label) {
      const Answer reference = judged(ours, rows.reference.best(row), label),
                   candidate = judged(theirs, rows.candidate.best(row), label);
      all_.add(reference, candidate, 1);
      for (std::size_t i = 0; i < kReplicas; ++i) {
        if (weights_[i] != 0) replicas_[i].add(reference, candidate, weights_[i]);
      }
    });
  }

  std::vector<MetricResult> results() const override {
    MetricResult result;
    result.name = "calibration_error";
    result.higher_is_better = false;
    result.unit = MetricUnit::kShare;
    result.reference = error_of(all_.reference);
    result.candidate = error_of(all_.candidate);
    result.drop = result.candidate - result.reference;
    std::vector<double> drops;
    for (const Both& both : replicas_) drops.push_back(error_of(both.candidate) - error_of(both.reference));
    const Interval interval = middle(std::move(drops));
    result.drop_low = interval.low;
    result.drop_high = interval.high;
    return {result};
  }

 private:
  static constexpr std::size_t kBins = 15;  // the usual number

  struct Answer {
    std::size_t bin;
    double probability, is_right;
  };
  struct Bin {
    double count = 0, probability = 0, right = 0;

    void add(const Answer& answer, double weight) {
      count += weight;
      probability += weight * answer.probability;
      right += weight * answer.is_right;
    }
  };
  using Bins = std::array<Bin, kBins>;
  struct Both {
    Bins reference, candidate;

    void add(const Answer& ours, const Answer& theirs, double weight) {
      reference[ours.bin].add(ours, weight);
      candidate[theirs.bin].add(theirs, weight);
    }
  };

  static Answer judged(const Probabilities& probabilities, std::size_t best, std::size_t label) {
    const double probability = probabilities.of(best);
    const double bin = probability > 0 ? std::floor(probability * kBins) : 0;  // NaN: 0
    return {std::min(static_cast<std::size_t>(bin), kBins - 1), probability, best == label ? 1.0 : 0.0};
  }

  static double error_of(const Bins& bins) {
    double distance = 0, count = 0;
    for (const Bin& bin : bins) {
      distance += std::fabs(bin.probability - bin.right);
      count += bin.count;
    }
    return count == 0 ? std::nan("") : distance / count;
  }

  std::uint64_t samples_ = 0;
  std::array<std::uint8_t, kReplicas> weights_{};
  Both all_;
  std::vector<Both> replicas_;
};

// Macro F1: the mean of 2·tp / (2·tp + fp + fn) over the classes that occur as label or as prediction.
class F1 : public ClassMeter {
 public:
  explicit F1(const MeterSettings& settings)
      : ClassMeter(settings), all_(classes_.count), replicas_(kReplicas, Counts(classes_.count)) {}

  void add_labeled(const LabeledOutput& output) override {
    const Rows rows(output, classes_);
    draw_weights(samples_++, weights_);
    rows.for_each([&](std::size_t row, std::size_t label) {
      const std::size_t reference = rows.reference.best(row), candidate = rows.candidate.best(row);
      all_.add(label, reference, candidate, 1);
      for (std::size_t i = 0; i < kReplicas; ++i) {
        if (weights_[i] != 0) replicas_[i].add(label, reference, candidate, weights_[i]);
      }
    });
  }

  std::vector<MetricResult> results() const override {
    MetricResult result;
    result.name = "f1";
    result.unit = MetricUnit::kShare;
    result.reference = f1(all_, all_.reference);
    result.candidate = f1(all_, all_.candidate);
    result.drop = result.reference - result.candidate;
    std::vector<double> drops;
    for (const Counts& counts : replicas_)
      drops.push_back(f1(counts, counts.reference) - f1(counts, counts.candidate));
    const Interval interval = middle(std::move(drops));
    result.drop_low = interval.low;
    result.drop_high = interval.high;
    return {result};
  }

 private:
  struct Answers {
    std::vector<std::uint32_t> given, right;  // predictions, and correct predictions, of each class
  };
  struct Counts {
    explicit Counts(std::size_t classes)
        : labels(classes),
          reference{std::vector<std::uint32_t>(classes), std::vector<std::uint32_t>(classes)},
          candidate(reference) {}
    void add(std::size_t label, std::size_t by_reference, std::size_t by_candidate, std::uint32_t weight) {
      labels[label] += weight;
      reference.given[by_reference] += weight;
      candidate.given[by_candidate] += weight;
      if (by_reference == label) reference.right[label] += weight;
      if (by_candidate == label) candidate.right[label] += weight;
    }
    std::vector<std::uint32_t> labels;
    Answers reference, candidate;
  };

  static double f1(const Counts& counts, const Answers& answers) {
    double total = 0, occurring = 0;
    for (std::size_t i = 0; i < counts.labels.size(); ++i) {
      const double all = counts.labels[i] + answers.given[i];  // 2·tp + fp + fn
      if (all == 0) continue;
      total += 2 * answers.right[i] / all;
      ++occurring;
    }
    return occurring == 0 ? std::nan("") : total / occurring;
  }

  std::uint64_t samples_ = 0;
  std::array<std::uint8_t, kReplicas> weights_{};
  Counts all_;
  std::vector<Counts> replicas_;
};

// Mean absolute error and mean squared error.
class MeanError : public LabeledMeter {
  static constexpr double kReproduced = 1e-4;  // relative to the labels' size: a smaller error is rounding

 public:
  explicit MeanError(const MeterSettings& settings) : LabeledMeter(settings) {}

  void add_labeled(const LabeledOutput& output) override {
    const std::vector<double> label = data::to_doubles(*output.label, output.where);
    if (label.size() != output.reference.size()) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the label has {} values, but the output has {}", label.size(),
                              output.reference.size()),
                  output.where);
    }
    double reference = 0, candidate = 0, reference_square = 0, candidate_square = 0;
    for (std::size_t i = 0; i < label.size(); ++i) {
      const double ours = label[i] - output.reference[i], theirs = label[i] - output.candidate[i];
      reference += std::fabs(ours);
      candidate += std::fabs(theirs);
      reference_square += ours * ours;
      candidate_square += theirs * theirs;
      label_absolute_ += std::fabs(label[i]);
      label_square_ += label[i] * label[i];
    }
    absolute_.add(reference, candidate, static_cast<double>(label.size()));
    squared_.add(reference_square, candidate_square, static_cast<double>(label.size()));
    labels_ += static_cast<double>(label.size());
  }

  std::vector<MetricResult> results() const override {
    std::vector<MetricResult> all = {
        result_of("mean_absolute_error", false, MetricUnit::kRelative, absolute_),
        result_of("mean_squared_error", false, MetricUnit::kRelative, squared_)};
    if (labels_ == 0) return all;
    all[0].label_size = label_absolute_ / labels_;
    all[0].rounding = kReproduced * all[0].label_size;
    all[1].label_size = label_square_ / labels_;
    all[1].rounding = kReproduced * kReproduced * all[1].label_size;
    return all;
  }

 private:
  data::Tensor answer_of(const data::TensorView& view, const LabeledOutput&) const override {
    return data::copy_of(view);
  }

  PairedMean absolute_, squared_;
  double label_absolute_ = 0, label_square_ = 0, labels_ = 0;
};

}  // namespace

std::unique_ptr<Meter> make_accuracy(const MeterSettings& settings) {
  return std::make_unique<Accuracy>(settings);
}

std::unique_ptr<Meter> make_nll(const MeterSettings& settings) { return std::make_unique<Nll>(settings); }

std::unique_ptr<Meter> make_brier_score(const MeterSettings& settings) {
  return std::make_unique<BrierScore>(settings);
}

std::unique_ptr<Meter> make_calibration_error(const MeterSettings& settings) {
  return std::make_unique<CalibrationError>(settings);
}

std::unique_ptr<Meter> make_f1(const MeterSettings& settings) {
  const std::size_t count = classes_of(settings).count;
  if (count > kMostClassesOfF1)
    throw Error(ErrorCode::kUsage,
                fmt::format("F1 supports up to {} classes, but '{}' has {}", kMostClassesOfF1,
                            settings.outputs[settings.output].name, count));
  return std::make_unique<F1>(settings);
}

std::unique_ptr<Meter> make_mean_error(const MeterSettings& settings) {
  return std::make_unique<MeanError>(settings);
}

}  // namespace ounce::evaluate
