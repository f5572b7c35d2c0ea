// A TFLite model as model::ModelFile. Code for TFLite only uses model().
//
// Values are the tensors of each subgraph, at the same positions. Operators have no names in a .tflite file:
// a node is named after its first output. `opsets()` gives the version of each operator.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "formats/tflite/file/model.h"
#include "model/model_file.h"

namespace ounce::tflite {

class TfliteFile final : public model::ModelFile {
 public:
  explicit TfliteFile(Model model) : model_(std::move(model)) {}

  const Model& model() const { return model_; }

  void validate() const override {}  // the reader has checked the model
  model::ModelKind kind() const override { return model::ModelKind::kTflite; }
  const std::filesystem::path& path() const override { return model_.file.path(); }
  std::uint64_t bytes() const override { return model_.file.bytes().size(); }
  std::vector<std::filesystem::path> files() const override { return {path()}; }
  std::map<std::string, std::uint64_t> external() const override;
  std::int64_t schema_version() const override { return model_.version; }
  std::vector<std::pair<std::string, std::int64_t>> opsets() const override;
  std::string producer() const override { return std::string(model_.description); }
  std::vector<std::pair<std::string, std::string>> metadata() const override;
  std::span<const model::Port> inputs() const override;
  std::span<const model::Port> outputs() const override;
  std::vector<model::QuantizedPort> quantized_ports() const override;
  std::map<std::string, std::int64_t> table_rows() const override;
  std::span<const model::GraphView> graphs() const override;
  std::map<std::string, std::uint64_t> attributes(model::NodeId node) const override;
  std::unique_ptr<const model::ConstantValues> read(model::ValueId constant) const override;

 private:
  void describe_ports() const;
  void describe_graphs() const;
  std::string_view keep(std::string text) const { return texts_.emplace_back(std::move(text)); }

  Model model_;
  mutable std::once_flag has_ports_, has_graphs_;
  mutable std::vector<model::Port> inputs_, outputs_;
  mutable std::vector<model::GraphView> graphs_;
  mutable std::deque<std::string> texts_;
  mutable std::deque<std::vector<std::int64_t>> shapes_;
};

// For code for TFLite models only.
inline const TfliteFile& as_tflite(const model::ModelFile& file) {
  return dynamic_cast<const TfliteFile&>(file);
}

std::unique_ptr<const TfliteFile> open_file(const std::filesystem::path& path);

void write_with_metadata(const TfliteFile& file, const std::string& key, const std::string& value,
                         const std::filesystem::path& output);

}  // namespace ounce::tflite
