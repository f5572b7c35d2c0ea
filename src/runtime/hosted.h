// A model in a runner process (`ounce-runner`). A hostile model can crash the runner, make it hang or exhaust
// its memory without affecting this process. If the runner ends, calls throw Error{kBadInput},
// Error{kTimeout} or Error{kMemory} with the reason, or Error{kIo} if the system or a user killed it; the
// next run starts a new process.
//
// The subclasses Isolated and Remote define how the runner is started and where its files are.
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
  LoadRequest load;                          // with paths as the runner sees them
  double load_seconds = 0, run_seconds = 0;  // 0: no limit
  std::string model, runtime;                // names in errors
  ChildProcess::Errors errors = ChildProcess::Errors::kDropped;
  std::shared_ptr<const void> files;  // keeps temporary files while runners may be started
  std::shared_ptr<Runners> runners;   // pool of runners; may be null
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
  double library_seconds() const { return loaded_.library_seconds; }  // to open the library
  double load_seconds() const { return loaded_.seconds; }             // to create the session
  double last_run_seconds() const { return last_run_seconds_; }       // without communication
  std::uint64_t peak_memory() const { return peak_memory_; }  // peak resident bytes after the last run

  // Starts a new process and loads the model in it.
  void restart();
  // False if its process has ended, by a crash or a timeout; the next run starts a new one.
  bool is_alive() const { return process_ != nullptr; }

 private:
  std::string purpose() const;
  void load();
  // The body of the answer, valid until the next question.
  const std::string& ask(Kind kind, const std::string& body, Kind expected, const char* doing);
  [[noreturn]] void explain_end(const char* doing);

  Launch launch_;
  std::unique_ptr<ChildProcess> process_;  // null if it has ended
  bool is_waiting_ = false;                // waits for an answer of the runner
  Loaded loaded_;
  std::string question_;
  Message answer_{};
  Tensors outputs_;
  double last_run_seconds_ = 0;
  std::uint64_t peak_memory_ = 0;
};

// Creates a Remote if the options have a remote, else an Isolated.
std::unique_ptr<Hosted> load_hosted(const std::filesystem::path& model, const ExecutorOptions& options);

// A model in a separate process on this machine, with limits.
class Isolated : public Hosted {
 public:
  Isolated(const std::filesystem::path& model, const ExecutorOptions& options);

  // Finds the runner program: the environment variable OUNCE_RUNNER, else next to this program or in the bin/
  // folder next to the library's folder, else where this library was built or installed. Throws Error{kIo} if
  // there is none.
  static std::filesystem::path find_runner();
};

// Finds a runner of this name next to this program or where this library was built or installed; empty if
// there is none.
std::filesystem::path find_runner_named(const std::string& name);

}  // namespace ounce::runtime
