// A model in the hands of a runner (`ounce-runner`), a process that a hostile model may crash, hang or fill
// without harm to this one. Whatever becomes of it is an Error{kBadInput}, Error{kTimeout} or
// Error{kMemory} that says what happened, or Error{kIo} when the system or a person killed the process; the
// next run gets a new one.
//
// Isolated and Remote say how the runner is started and where its files are.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/child_process.h"
#include "runtime/executor.h"
#include "runtime/wire.h"

namespace ounce::runtime {

struct Launch {
  std::vector<std::string> command;          // starts the runner
  LoadRequest load;                          // the files as the runner sees them
  double load_seconds = 0, run_seconds = 0;  // 0: no limit
  std::string model, runtime;                // what errors call them
  ChildProcess::Errors errors = ChildProcess::Errors::kDropped;
  std::shared_ptr<const void> files;  // stay as long as a runner may be started
  std::shared_ptr<Runners> runners;   // may have one that waits
};

class Hosted : public Executor {
 public:
  explicit Hosted(Launch launch);
  ~Hosted() override;

  const std::vector<ValueDescription>& inputs() const override { return loaded_.inputs; }
  const std::vector<ValueDescription>& outputs() const override { return loaded_.outputs; }
  const std::string& library_version() const override { return loaded_.library_version; }
  std::span<const TensorView> run(std::span<const TensorView> inputs) override;
  std::optional<LoadMemory> load_memory() const override;
  // On the other side, where nothing lies between two runs.
  SlotTimes time(std::span<const TensorView> inputs, std::uint64_t runs) override;

  // Measured by the runner, where it is.
  double library_seconds() const { return loaded_.library_seconds; }  // of opening the library
  double load_seconds() const { return loaded_.seconds; }             // of creating the session
  double last_run_seconds() const { return last_run_seconds_; }  // of the run alone, without the way here
  std::uint64_t peak_memory() const { return peak_memory_; }     // resident, after the last run

  // A new process, and the model loaded by it.
  void restart();
  // False when its process has ended, by its own fault or because it took too long; the next run gets a new
  // one.
  bool is_alive() const { return process_ != nullptr; }

 private:
  std::string purpose() const;
  void load();
  // The body of the answer, until the next question.
  const std::string& ask(Kind kind, const std::string& body, Kind expected, const char* doing);
  [[noreturn]] void explain_end(const char* doing);

  Launch launch_;
  std::unique_ptr<ChildProcess> process_;  // null when it has ended
  bool is_waiting_ = false;                // for its answer
  Loaded loaded_;
  std::string question_;
  Message answer_{};
  Tensors outputs_;
  double last_run_seconds_ = 0;
  std::uint64_t peak_memory_ = 0;
};

// The one that the options ask for: Remote, or else Isolated.
std::unique_ptr<Hosted> load_hosted(const std::filesystem::path& model, const ExecutorOptions& options);

}  // namespace ounce::runtime
