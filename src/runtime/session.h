// A model that the runtime has loaded, and tensors to run it with.
//
//   Session session(Library::open(Library::find()), "model.onnx", {});
//   std::vector<Tensor> outputs = session.run({{"x", {onnx::ElementType::kFloat, {1, 4}, bytes}}});
//
// A Session may be used by several threads at once. All errors are ounce::Error with the runtime's message.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "onnx/element_type.h"
#include "runtime/library.h"

struct OrtMemoryInfo;
struct OrtSession;

namespace ounce::runtime {

enum class Optimization {
  kNone,
  kBasic,     // constants are folded from here on
  kExtended,  // nodes are fused
  kAll,       // layouts are changed to those of this machine
};

struct SessionOptions {
  unsigned threads = 1;  // inside an op; 0: as many as the runtime likes
  Optimization optimization = Optimization::kAll;
  std::map<std::string, std::string> config;  // such as session.disable_quant_qdq
  std::filesystem::path
      save_optimized;  // where to write the model as the runtime has changed it; empty: nowhere
};

// What a model takes or gives.
struct ValueDescription {
  struct Dimension {
    std::int64_t value = -1;  // -1 when it is free …
    std::string name;         // … and its name then, if it has one
  };
  std::string name;
  onnx::ElementType element =
      onnx::ElementType::kUndefined;  // kUndefined: not a tensor but a sequence, a map …
  std::vector<Dimension>
      shape;  // empty for a scalar, and for a tensor of unknown rank: the runtime does not say which

  bool is_tensor() const { return element != onnx::ElementType::kUndefined; }
};

// Values in the layout of raw_data, with the bytes in it. Not for strings (yet).
struct Tensor {
  onnx::ElementType type = onnx::ElementType::kUndefined;
  std::vector<std::int64_t> dims;
  std::string bytes;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

class Session {
 public:
  Session(std::shared_ptr<const Library> library, const std::filesystem::path& model,
          const SessionOptions& options);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  const std::vector<ValueDescription>& inputs() const { return inputs_; }
  const std::vector<ValueDescription>& outputs() const { return outputs_; }

  // Runs once and gives the outputs of these names in their order; without names all outputs.
  std::vector<Tensor> run(const std::vector<NamedTensor>& inputs,
                          const std::vector<std::string>& outputs = {}) const;

 private:
  struct Handles;

  std::shared_ptr<const Library> library_;
  std::string model_;
  std::unique_ptr<Handles> handles_;
  std::vector<ValueDescription> inputs_, outputs_;
};

}  // namespace ounce::runtime
