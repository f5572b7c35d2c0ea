// A model in a process of its own (`ounce-runner`), which a hostile model may crash, hang or fill without
// harm to this one. Whatever becomes of it is an Error{kBadInput} that says what happened; the next run gets
// a new process.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "io/descriptor.h"
#include "runtime/executor.h"
#include "runtime/wire.h"

namespace ounce::runtime {

class Isolated : public Executor {
 public:
  Isolated(const std::filesystem::path& model, const ExecutorOptions& options);
  ~Isolated() override;
  Isolated(const Isolated&) = delete;
  Isolated& operator=(const Isolated&) = delete;

  const std::vector<ValueDescription>& inputs() const override { return inputs_; }
  const std::vector<ValueDescription>& outputs() const override { return outputs_; }
  const std::string& library_version() const override { return library_version_; }
  std::span<const TensorView> run(std::span<const TensorView> inputs) override;

  double load_seconds() const { return load_seconds_; }          // of creating the session
  double last_run_seconds() const { return last_run_seconds_; }  // of the run alone, without the way here
  std::uint64_t peak_memory() const { return peak_memory_; }     // resident, after the last run

  // The runner program: what the environment variable OUNCE_RUNNER names, else the one beside this program,
  // else the one this library was built or installed with. Throws Error{kIo} when there is none.
  static std::filesystem::path find_runner();

 private:
  void load();
  void start(const Limits& limits);
  std::string ask(Kind kind, const std::string& body, Kind expected, const char* doing);
  [[noreturn]] void explain_end(const char* doing);
  void stop();

  std::string model_;
  ExecutorOptions options_;
  pid_t process_ = -1;
  io::Descriptor socket_;
  std::string library_version_;
  std::vector<ValueDescription> inputs_, outputs_;
  std::vector<Tensor> tensors_;
  std::vector<TensorView> views_;
  double load_seconds_ = 0, last_run_seconds_ = 0;
  std::uint64_t peak_memory_ = 0;
};

}  // namespace ounce::runtime
