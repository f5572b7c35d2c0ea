#include "app/candidate.h"

#include "app/call.h"
#include "app/failure.h"
#include "app/session.h"
#include "runtime/isolated.h"
#include "runtime/ort/bound_run.h"

namespace ounce::app {
namespace {

runtime::SessionOptions candidate_session(const LoadOptions& options) {
  runtime::SessionOptions made;
  made.threads = options.threads;
  made.config = options.config;
  return made;
}

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
    made.library = options.library;
    made.session = candidate_session(options);
    made.isolate = runtime::Limits{.memory = 0, .seconds = seconds};
    return made;
  }

  runtime::Isolated runner_;
};

class LocalCandidate : public Candidate {
 public:
  LocalCandidate(const std::filesystem::path& model, const LoadOptions& options, double seconds)
      : session_(open_library(options.library), model, candidate_session(options)),
        run_(session_),
        seconds_(seconds),
        timer_([](void* run) { static_cast<runtime::BoundRun*>(run)->stop(); }, &run_) {}

  const std::vector<data::ValueDescription>& inputs() const override { return session_.inputs(); }
  const std::vector<data::ValueDescription>& outputs() const override { return session_.outputs(); }
  std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) override {
    run_.bind(inputs);
    const auto deadline =
        std::chrono::steady_clock::now() +
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds_));
    timer_.arm(deadline);
    try {
      run_.run();
    } catch (const Error& error) {
      timer_.disarm();
      run_.resume();
      if (std::chrono::steady_clock::now() < deadline) throw;
      throw Error(ErrorCode::kTimeout, error.what());
    }
    timer_.disarm();
    run_.resume();
    return run_.outputs();
  }

 private:
  runtime::Session session_;
  runtime::BoundRun run_;
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
  LoadOptions kept;  // only what counts: callbacks stay with whoever gave them
  kept.library = options.library;
  kept.threads = options.threads;
  kept.config = options.config;
  return [model, kept, isolated, seconds]() -> std::unique_ptr<Candidate> {
    if (isolated) return std::make_unique<IsolatedCandidate>(model, kept, seconds);
    return std::make_unique<LocalCandidate>(model, kept, seconds);
  };
}

}  // namespace ounce::app
