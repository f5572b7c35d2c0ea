// Reads a constant as the node that uses it sees it, through ops that move, clip or convert values in
// between, as exporters leave them.
//
//   w ─ Transpose ─ Clip ─ op        reader.read(body, "clipped") gives the values of w, moved and clipped
//
// Integers are returned as floats: valid zero points and limits are small enough to be exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::passes {

class FrozenValues {
 public:
  using Dims = std::vector<std::int64_t>;

  FrozenValues(ElementType type, Dims dims, std::vector<float> values);
  // A float tensor, read from the model, which must outlive this object.
  FrozenValues(const onnx::Model& model, const onnx::Tensor& tensor);

  ElementType type() const { return type_; }
  const Dims& dims() const { return dims_; }
  std::size_t size() const { return floats().size(); }
  bool is_single() const { return size() == 1; }

  quant::FloatSource floats() const;
  std::vector<float> all() const;
  float single() const { return all().front(); }

 private:
  ElementType type_;
  Dims dims_;
  std::vector<float> own_;
  std::unique_ptr<plan::TensorSource> in_file_;
};

// The limits of a Clip.
struct Limits {
  float lo = std::numeric_limits<float>::lowest(), hi = std::numeric_limits<float>::max();
};

class FrozenReader {
 public:
  FrozenReader(const onnx::Model& model, const graph::Index& index);

  struct NotConstant {};
  // Returns a Reason if there is a constant but it cannot be read.
  std::variant<NotConstant, FrozenValues, Reason> read(std::size_t body, Bytes name);

  // The same without the values; empty if read() would return none.
  std::optional<FrozenValues::Dims> dims(std::size_t body, Bytes name);

  // The limits of a Clip; empty unless they are scalar constants with low <= high.
  std::optional<Limits> limits(std::size_t body, const onnx::Node& clip);

  // Limits the total work to a multiple of the model's size. Small values are not counted.
  bool may_use(std::uint64_t bytes);

 private:
  struct Step {
    std::size_t body;
    const onnx::Node* node;
  };
  struct Way {
    std::vector<Step> steps;  // from the user to the constant
    std::size_t body = 0;
    Bytes name;  // of the constant
  };
  struct Moving;
  static bool is_passage(const onnx::Node& node);

  std::variant<NotConstant, Way, Reason> find(std::size_t body, Bytes name) const;
  std::optional<Reason> walk(const Way& way, Moving& moving);
  std::optional<FrozenValues> constant(std::size_t body, Bytes name);
  std::optional<FrozenValues::Dims> constant_dims(std::size_t body, Bytes name);
  bool is_constant(std::size_t body, Bytes name) const;
  const onnx::Node* constant_node(std::size_t body, Bytes name) const;

  std::optional<Reason> apply(const Step& step, Moving& moving);
  std::optional<Reason> transpose(const onnx::Node& node, Moving& moving);
  std::optional<Reason> reshape(const Step& step, Moving& moving);
  std::optional<Reason> clip(const Step& step, Moving& moving);
  std::optional<Reason> cast(const onnx::Node& node, Moving& moving);

  const onnx::Model& model_;
  const graph::Index& index_;
  WorkLimit limit_;
};

}  // namespace ounce::passes
