// Runs a session many times with bound inputs and outputs, without allocations.
//
//   BoundRun run(session);
//   run.bind({x, state});           // in the order of session.inputs(); the tensors must not move
//   run.run();
//   run.outputs()[0].bytes          // valid until the next run() or bind()
//
// The memory of the outputs is reused while their shapes do not change; then the views stay the same in every
// run.
#pragma once

#include <span>

#include "runtime/ort/session.h"

struct OrtValue;

namespace ounce::runtime {

class BoundRun {
 public:
  // `outputs`: names of the outputs to compute; empty: all.
  explicit BoundRun(const Session& session, std::vector<std::string> outputs = {});
  ~BoundRun();
  BoundRun(BoundRun&&) noexcept;
  BoundRun& operator=(BoundRun&&) = delete;

  // Sets the inputs. Throws Error{kBadInput} if a type or a shape does not match the model.
  void bind(std::span<const TensorView> inputs);
  void run();
  // May be called from another thread: ends the current run between two nodes, and all later runs until
  // resume().
  void stop() noexcept;
  void resume() noexcept;
  // The outputs of the last run, in the order of the names.
  std::span<const TensorView> outputs();

 private:
  struct Values;
  void forget_outputs();
  bool shares_an_input(const TensorView& output) const;
  bool are_views_of_outputs() const;

  const Session* session_;
  std::vector<std::string> output_names_;
  std::vector<const char*> input_pointers_, output_pointers_;
  std::unique_ptr<Values> values_;
  std::vector<TensorView> views_;
  std::vector<data::Tensor> made_;  // copies of strings, sequences and maps
  bool are_views_current_ = false;
  bool keeps_outputs_ = true;  // false if shapes depend on the data, or an output shares memory
};

}  // namespace ounce::runtime
