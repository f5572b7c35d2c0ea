// A session with its inputs and outputs bound: run again and again without an allocation of ours.
//
//   BoundRun run(session);
//   run.bind({x, state});           // in the order of session.inputs(); the tensors must stay where they are
//   run.run();
//   run.outputs()[0].bytes          // until the next run() or bind()
//
// The memory of the outputs is that of the first run; it is used again as long as the shapes stay the same,
// and then the views of the first run are those of every other.
#pragma once

#include <span>

#include "runtime/ort/session.h"

struct OrtValue;

namespace ounce::runtime {

class BoundRun {
 public:
  // `outputs`: which ones to compute; without names all of them.
  explicit BoundRun(const Session& session, std::vector<std::string> outputs = {});
  ~BoundRun();
  BoundRun(BoundRun&&) noexcept;
  BoundRun& operator=(BoundRun&&) = delete;

  // Throws Error{kBadInput} when a type or a shape is not what the model takes.
  void bind(std::span<const TensorView> inputs);
  void run();
  // From another thread: ends the run that goes on, between two nodes, and all that follow until resume().
  void stop() noexcept;
  void resume() noexcept;
  // Views of what the last run gave, in the order of the names.
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
  std::vector<data::Tensor> made_;  // what stands nowhere else: strings, sequences, maps
  bool are_views_current_ = false;
  bool keeps_outputs_ =
      true;  // false once shapes have turned out to depend on the data, or memory to be shared
};

}  // namespace ounce::runtime
