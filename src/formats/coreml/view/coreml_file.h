// A Core ML model as model::ModelFile. Code for Core ML only uses model().
//
// The graphs of an ML Program are the default function, then nested blocks of its operations, then other
// functions. `const` operations and immediate values of operations are not nodes but constants. The inputs of
// a node are sorted by parameter name, because files do not define an order. For other kinds of models only
// the description is shown, and for neural networks also layers and weights.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "formats/coreml/file/description.h"
#include "formats/coreml/file/model.h"
#include "formats/coreml/file/network.h"
#include "model/model_file.h"

namespace ounce::coreml {

class CoremlFile final : public model::ModelFile {
 public:
  explicit CoremlFile(Model model) : model_(std::move(model)), description_(describe_model(model_)) {}

  const Model& model() const { return model_; }
  // The operation of a node of an ML Program.
  const Operation& operation(model::NodeId node) const { return *operations_[node.graph][node.node]; }
  // The `const` operation of a constant; null for an immediate value of another operation.
  const Operation* constant_operation(model::ValueId constant) const;
  // The constant with this name that is visible to a node; null if it is computed.
  const Value* constant_named(model::NodeId node, Bytes name) const;

  void validate() const override { coreml::validate(model_); }
  model::ModelKind kind() const override { return model::ModelKind::kCoreml; }
  const std::filesystem::path& path() const override { return model_.path; }
  std::uint64_t bytes() const override;
  std::vector<std::filesystem::path> files() const override;
  std::map<std::string, std::uint64_t> external() const override;
  std::int64_t schema_version() const override { return model_.proto->version; }
  std::vector<std::pair<std::string, std::int64_t>> opsets() const override;
  std::string producer() const override;
  std::vector<std::pair<std::string, std::string>> metadata() const override;
  std::span<const model::Port> inputs() const override;
  std::span<const model::Port> outputs() const override;
  std::vector<model::QuantizedPort> quantized_ports() const override { return {}; }
  std::map<std::string, std::int64_t> table_rows() const override;
  std::span<const model::GraphView> graphs() const override;
  std::map<std::string, std::uint64_t> attributes(model::NodeId node) const override;
  std::unique_ptr<const model::ConstantValues> read(model::ValueId constant) const override;

 private:
  class GraphBuilder;
  void describe_ports() const;
  void describe_graphs() const;
  void describe_network() const;
  std::filesystem::path package_folder() const;

  Model model_;
  ModelDescription description_;
  mutable std::once_flag has_ports_, has_graphs_;
  mutable std::vector<model::Port> inputs_, outputs_;
  mutable std::vector<model::GraphView> graphs_;
  mutable std::vector<std::vector<const Operation*>> operations_;  // of the nodes
  mutable std::map<model::ValueId, const Value*> constants_;
  mutable std::map<model::ValueId, const Operation*> constant_operations_;
  mutable std::vector<Layer> layers_;  // of a neural network
  mutable std::map<model::ValueId, const LayerWeight*> layer_weights_;
  mutable std::deque<std::string> texts_;
};

const CoremlFile& as_coreml(const model::ModelFile& file);  // throws Error{kInternal} for other kinds
std::unique_ptr<const CoremlFile> open_file(const std::filesystem::path& path);

void write_with_metadata(const CoremlFile& file, const std::string& key, const std::string& value,
                         const std::filesystem::path& output);

}  // namespace ounce::coreml
