// An ONNX model behind the interface model::ModelFile. ONNX-specific code uses model() and index().
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/index.h"
#include "model/model_file.h"

namespace ounce::onnx {

// The metadata entry that describes quantized inputs and outputs, and its content; empty if missing.
inline constexpr const char* kPortsKey = "ounce.io";
std::vector<model::QuantizedPort> quantized_ports_of(const Model& model);

std::vector<std::pair<std::string, std::string>> metadata_of(const Model& model);

// The values of a tensor that is not of strings. The model must outlive it.
class TensorSource final : public model::ConstantValues {
 public:
  TensorSource(const Model& model, const Tensor& tensor);
  std::string_view bytes() const override { return values_.bytes(); }
  const quant::FloatSource& floats() const override { return floats_; }

 private:
  RawValues values_;
  quant::FloatSource floats_;
};

class OnnxFile final : public model::ModelFile {
 public:
  explicit OnnxFile(Model model) : model_(std::move(model)) {}

  const Model& model() const { return model_; }
  const graph::Index& index() const;

  void validate() const override;
  model::ModelKind kind() const override { return model::ModelKind::kOnnx; }
  const std::filesystem::path& path() const override { return model_.file.path(); }
  std::uint64_t bytes() const override { return bytes_of(model_); }
  std::vector<std::filesystem::path> files() const override;
  std::map<std::string, std::uint64_t> external() const override;
  std::int64_t schema_version() const override { return model_.proto->ir_version; }
  std::vector<std::pair<std::string, std::int64_t>> opsets() const override;
  std::string producer() const override;
  std::vector<std::pair<std::string, std::string>> metadata() const override { return metadata_of(model_); }
  std::span<const model::Port> inputs() const override;
  std::span<const model::Port> outputs() const override;
  std::vector<model::QuantizedPort> quantized_ports() const override { return quantized_ports_of(model_); }
  std::map<std::string, std::int64_t> table_rows() const override;
  std::span<const model::GraphView> graphs() const override;
  std::map<std::string, std::uint64_t> attributes(model::NodeId node) const override;
  std::unique_ptr<const model::ConstantValues> read(model::ValueId constant) const override;

 private:
  const Tensor* tensor_of(std::size_t body, Bytes name) const;
  void describe_ports() const;
  void describe_graphs() const;

  Model model_;
  mutable std::once_flag has_ports_, has_graphs_, has_index_;
  mutable std::optional<graph::Index> index_;
  mutable std::vector<model::Port> inputs_, outputs_;
  mutable std::vector<model::GraphView> graphs_;
};

std::unique_ptr<const OnnxFile> open_file(const std::filesystem::path& path);

// For ONNX-specific operations. Throws Error{kUnsupported} for a model of another format.
const OnnxFile& as_onnx(const model::ModelFile& file);

void write_with_metadata(const OnnxFile& file, const std::string& key, const std::string& value,
                         const std::filesystem::path& output);
void replace_metadata(const std::filesystem::path& model, const std::string& key, const std::string& value);

}  // namespace ounce::onnx
