// Rewrites of one subgraph: which operator computes a tensor, which ones use it, and changes that keep both
// known.
//
//   GraphEditor editor(model, 0);
//   for (std::size_t op = 0; op < editor.size(); ++op) {
//     if (editor.code(op) != Builtin::kRelu) continue;
//     const std::size_t producer = editor.producer(editor.input(op, 0));  // kNone: an input of the graph
//     editor.remove(op);
//   }
//   editor.finish();   // the operators are back in the model; nothing of it may be read before
//
// Operators keep their numbers while they are edited: one that was removed is there, without tensors, and new
// ones are numbered behind all others but run where they were inserted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/tflite/file/model.h"
#include "formats/tflite/file/ops.h"

namespace ounce::tflite {

class GraphEditor {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Use {
    std::size_t op = 0, input = 0;
  };

  GraphEditor(Model& model, std::size_t subgraph);
  GraphEditor(const GraphEditor&) = delete;
  GraphEditor& operator=(const GraphEditor&) = delete;

  Model& model() { return model_; }
  const SubGraph& graph() const { return model_.subgraphs[subgraph_]; }

  // Operators in the order in which they run, as long as none was inserted.
  std::size_t size() const { return ops_.size(); }
  const Operator& op(std::size_t op) const { return ops_[op]; }
  bool is_removed(std::size_t op) const { return removed_[op]; }
  // kCustom for one that was removed.
  Builtin code(std::size_t op) const;
  std::int32_t version(std::size_t op) const;
  // The tensor of an input or output; -1 where there is none.
  std::int32_t input(std::size_t op, std::size_t i) const;
  std::int32_t output(std::size_t op, std::size_t i = 0) const;
  // The options, if they are of this table.
  const Record* options(std::size_t op, const char* table) const;
  // For messages: "RELU 'conv1/relu'", after its first output.
  std::string label(std::size_t op) const;

  // Until one is added: copy what is needed after that.
  const Tensor& tensor(std::int32_t tensor) const { return graph().tensors[index(tensor)]; }
  std::size_t producer(std::int32_t tensor) const { return producers_[index(tensor)]; }
  // In no order.
  const std::vector<Use>& uses(std::int32_t tensor) const;
  std::size_t use_count(std::int32_t tensor) const { return use_counts_[index(tensor)]; }
  // Someone outside of the operators' inputs and outputs knows the tensor: it is an input or output of the
  // graph or of a signature, a variable, an intermediate, holds scales, or is read before it is written.
  bool is_fixed(std::int32_t tensor) const { return fixed_[index(tensor)]; }
  // The only operator that reads the tensor, which is not fixed.
  std::optional<Use> sole_use(std::int32_t tensor) const;
  // Has the tensor its values in the model, dense, and does nothing write it?
  bool is_constant(std::int32_t tensor) const;
  // The values of a constant of type INT32 or INT64 in memory, with `most` elements at most.
  std::optional<std::vector<std::int64_t>> integers(std::int32_t tensor, std::size_t most = 64) const;
  // The value of a constant of type FLOAT32 with one element.
  std::optional<float> scalar(std::int32_t tensor) const;

  void set_input(std::size_t op, std::size_t i, std::int32_t tensor);
  void add_input(std::size_t op, std::int32_t tensor);
  void keep_inputs(std::size_t op, std::size_t count);  // the first ones
  // The tensor is written by nothing else: its operator has been removed, or has got another output.
  void set_output(std::size_t op, std::size_t i, std::int32_t tensor);
  void remove(std::size_t op);
  // All uses of a tensor that is not fixed; they become uses of the other one.
  void replace_uses(std::int32_t tensor, std::int32_t by);
  // The options change through the function; they are of this table from then on.
  Record& set_options(std::size_t op, const char* table);
  void clear_options(std::size_t op);
  void set_code(std::size_t op, Builtin code, std::int32_t version);
  // An operator that runs before `place`, behind those that were inserted there. Its code is set by this.
  std::size_t insert(std::size_t place, Builtin code, std::int32_t version, std::vector<std::int32_t> inputs,
                     std::vector<std::int32_t> outputs);
  // A tensor of the shape and type of another one. Its name ends with this.
  std::int32_t add_tensor(std::int32_t like, const std::string& ending);
  std::int32_t add_constant(const std::string& name, std::vector<std::int32_t> shape, TensorType type,
                            Data values);
  // An output of an operator becomes a constant; the operator loses this output, and is removed if it has no
  // other one.
  void make_constant(std::int32_t tensor, Data values);
  // A tensor that nothing but operators knows gets another shape.
  void set_shape(std::int32_t tensor, std::vector<std::int32_t> shape);

  // Of tensors that are not fixed.
  void swap_names(std::int32_t a, std::int32_t b);

  // Did anything change?
  bool is_changed() const { return is_changed_; }
  void finish();

 private:
  static std::size_t index(std::int32_t tensor) { return static_cast<std::size_t>(tensor); }
  Tensor& at(std::int32_t tensor) { return model_.subgraphs[subgraph_].tensors[index(tensor)]; }
  void fix(std::int64_t tensor);
  void find_fixed();
  void use(std::size_t op, std::size_t i);
  void drop_use(std::size_t op, std::size_t i);
  std::uint32_t operator_code(Builtin code, std::int32_t version);
  std::int32_t add(Tensor tensor);
  std::uint32_t add_buffer(Data values);

  Model& model_;
  std::size_t subgraph_;
  std::vector<Operator> ops_;
  std::vector<bool> removed_;
  std::map<std::size_t, std::vector<std::size_t>> inserted_;  // by the operator that they run before
  std::vector<std::size_t> producers_;
  mutable std::vector<std::vector<Use>> uses_;  // with some that are gone: uses() drops these
  std::vector<std::size_t> use_counts_;
  std::vector<bool> fixed_, is_input_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> codes_;  // of the file, and those added
  std::size_t original_size_ = 0;
  bool is_changed_ = false;
};

}  // namespace ounce::tflite
