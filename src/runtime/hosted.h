// A model in a runner (`ounce-runner`), a process that a hostile model may crash, hang or fill without harm
// to this one. Its end is an Error{kBadInput}, Error{kTimeout} or Error{kMemory} that says what happened, or
// Error{kIo} when the system or a user killed the process; the next run gets a new process.
//
// Isolated and Remote decide how the runner is started and where its files are.
#pragma once

#include <filesystem>
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
  LoadRequest load;                          // with the paths that the runner uses
  double load_seconds = 0, run_seconds = 0;  // 0: no limit
  std::string model, runtime;                // their names in errors
  ChildProcess::Errors errors = ChildProcess::Errors::kDropped;
  std::shared_ptr<const void> files;  // exist as long as a runner may be started
  std::shared_ptr<Runners> runners;   // may have a waiting one
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
  // Timed by the runner, without communication between two runs.
  SlotTimes time(std::span<const TensorView> inputs, std::uint64_t runs) override;

  // Measured by the runner.
  double library_seconds() const { return loaded_.library_seconds; }  // of opening the library
  double load_seconds() const { return loaded_.seconds; }             // of creating the session
  double last_run_seconds() const { return last_run_seconds_; }  // of the run alone, without communication
  std::uint64_t peak_memory() const { return peak_memory_; }     // resident, after the last run

  // Starts a new process and loads the model in it.
  void restart();
  // False when its process has ended, by a fault or after a timeout; the next run gets a new one.
  bool is_alive() const { return process_ != nullptr; }

 private:
  std::string purpose() const;
  void load();
  // The body of the answer, valid until the next question.
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

// Remote if the options say so, else Isolated.
std::unique_ptr<Hosted> load_hosted(const std::filesystem::path& model, const ExecutorOptions& options);

// A model in a separate process on this machine, with limits.
class Isolated : public Hosted {
 public:
  Isolated(const std::filesystem::path& model, const ExecutorOptions& options);

  // The runner program: the one in the environment variable OUNCE_RUNNER, else the one beside this program or
  // in bin/ beside the library's folder, else the one this library was built or installed with. Throws
  // Error{kIo} when there is none.
  static std::filesystem::path find_runner();
};

// A runner of this name beside this program or where this library was built or installed; empty: none.
std::filesystem::path find_runner_named(const std::string& name);

}  // namespace ounce::runtime
