#include "app/shadow.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "app/load_checks.h"
#include "app/loaded_model.h"
#include "app/model_bytes.h"
#include "app/session.h"
#include "data/class_rows.h"
#include "data/tensor.h"
#include "runtime/hosted.h"

namespace ounce::app {
namespace {

template <class T>
bool add_values(std::span<const T> primary, std::span<const T> candidate, ShadowOutput& sums) {
  for (std::size_t i = 0; i < primary.size(); ++i) {
    if (std::isfinite(primary[i]) && !std::isfinite(candidate[i])) return false;
  }
  for (std::size_t i = 0; i < primary.size(); ++i) {
    const double a = primary[i], b = candidate[i];
    if (!std::isfinite(a)) continue;
    sums.signal += a * a;
    sums.noise += (a - b) * (a - b);
    sums.largest = std::max(sums.largest, std::abs(a - b));
    ++sums.values;
  }
  return true;
}

// Labels cannot be subtracted: as in verify(), a changed label counts as noise of the label's own size.
void add_labels(const data::TensorView& primary, const data::TensorView& candidate, ShadowOutput& sums) {
  const std::vector<double> a = data::to_doubles(primary, "output"),
                            b = data::to_doubles(candidate, "output");
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool is_other = a[i] != b[i];
    sums.signal += 1;
    sums.noise += is_other ? 1 : 0;
    sums.largest = std::max(sums.largest, is_other ? 1.0 : 0.0);
    sums.flips += is_other ? 1 : 0;
  }
  sums.values += a.size();
  sums.answers += a.size();
}

// Counts the rows and those with another top-1 class.
void add_rows(const data::ValueDescription& output, const data::TensorView& primary,
              const data::TensorView& candidate, ShadowOutput& sums) {
  if (!is_float_weight_type(primary.type)) return;
  const data::ValueDescription described = data::described_as(primary, output);
  const std::optional<std::size_t> axis = data::class_axis(described);
  if (!axis || primary.dims.size() != described.shape.size()) return;
  std::vector<float> as_floats, others_as_floats;
  const data::ClassRows ours(data::floats_of(primary, as_floats, "output"), primary.dims, *axis),
      theirs(data::floats_of(candidate, others_as_floats, "output"), candidate.dims, *axis);
  for (std::size_t row = 0; row < ours.rows(); ++row) {
    ++sums.answers;
    if (ours.best(row) != theirs.best(row)) ++sums.flips;
  }
}

}  // namespace

bool add_comparison(const data::ValueDescription& output, const data::TensorView& primary,
                    const data::TensorView& candidate, ShadowOutput& sums) {
  if (data::is_label(primary.type, primary.dims.size())) {
    add_labels(primary, candidate, sums);
    return true;
  }
  const auto add = [&](const auto& a, const auto& b) { return add_values(std::span(a), std::span(b), sums); };
  const bool are_numbers =
      primary.type == ElementType::kFloat
          ? add(data::values_of<float>(primary), data::values_of<float>(candidate))
          : add(data::to_doubles(primary, "output"), data::to_doubles(candidate, "output"));
  if (are_numbers) add_rows(output, primary, candidate, sums);
  return are_numbers;
}

bool is_finite(const data::TensorView& tensor) {
  if (!is_float_weight_type(tensor.type)) return true;
  const auto all_finite = [](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](auto value) { return std::isfinite(value); });
  };
  return tensor.type == ElementType::kFloat ? all_finite(data::values_of<float>(tensor))
                                            : all_finite(data::to_doubles(tensor, "output"));
}

namespace {

class IsolatedCandidate : public Candidate {
 public:
  IsolatedCandidate(const std::filesystem::path& model, const LoadOptions& options, double seconds)
      : runner_(model, how(options, seconds)) {}

  const std::vector<data::ValueDescription>& inputs() const override { return runner_.inputs(); }
  const std::vector<data::ValueDescription>& outputs() const override { return runner_.outputs(); }
  std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) override {
    return runner_.run(inputs);
  }
  CandidateFault fault_of(const Error& error) const override {
    if (error.code() == ErrorCode::kTimeout) return CandidateFault::kTimeout;
    return runner_.is_alive() ? CandidateFault::kError : CandidateFault::kCrash;
  }

 private:
  static runtime::ExecutorOptions how(const LoadOptions& options, double seconds) {
    runtime::ExecutorOptions made;
    made.library = made.litert = options.library;
    made.settings.threads = options.threads;
    made.settings.options = options.config;
    made.isolate = runtime::Limits{.memory = 0, .seconds = seconds};
    return made;
  }

  runtime::Isolated runner_;
};

class LocalCandidate : public Candidate {
 public:
  LocalCandidate(const std::filesystem::path& model, const LoadOptions& options, double seconds)
      : bytes_(ModelBytes::of_file(model)),
        model_(bytes_.is_tflite() ? load_litert(bytes_, options)
                                  : load_ort(bytes_, open_library(options.library), options)),
        run_(model_->start()),
        seconds_(seconds),
        timer_([](void* run) { static_cast<ModelRun*>(run)->stop(); }, run_.get()) {}

  const std::vector<data::ValueDescription>& inputs() const override { return model_->inputs(); }
  const std::vector<data::ValueDescription>& outputs() const override { return model_->outputs(); }
  std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) override {
    run_->bind(inputs);
    const auto deadline =
        std::chrono::steady_clock::now() +
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds_));
    timer_.arm(deadline);
    try {
      run_->run();
    } catch (const Error& error) {
      timer_.disarm();
      run_->resume();
      if (std::chrono::steady_clock::now() < deadline) throw;
      throw Error(ErrorCode::kTimeout, error.what());
    }
    timer_.disarm();
    run_->resume();
    return run_->outputs();
  }

 private:
  ModelBytes bytes_;
  std::unique_ptr<LoadedModel> model_;
  std::unique_ptr<ModelRun> run_;
  double seconds_;
  Watchdog::Entry timer_;
};

}  // namespace

CandidateFault Candidate::fault_of(const Error& error) const {
  return error.code() == ErrorCode::kTimeout ? CandidateFault::kTimeout : CandidateFault::kError;
}

bool can_isolate() noexcept {
  try {
    return !runtime::Isolated::find_runner().empty();
  } catch (const std::exception&) {
    return false;
  }
}

MakeCandidate candidate_of(const std::filesystem::path& model, const LoadOptions& options, bool isolated,
                           double seconds) {
  LoadOptions kept;  // without callbacks
  kept.library = options.library;
  kept.threads = options.threads;
  kept.config = options.config;
  return [model, kept, isolated, seconds]() -> std::unique_ptr<Candidate> {
    if (isolated) return std::make_unique<IsolatedCandidate>(model, kept, seconds);
    return std::make_unique<LocalCandidate>(model, kept, seconds);
  };
}

}  // namespace ounce::app
