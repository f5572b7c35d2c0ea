// Reads TensorProto and SparseTensorProto, inline or with external data.
#pragma once

#include <filesystem>
#include <optional>

#include "onnx/cursor.h"
#include "onnx/model.h"

namespace ounce::onnx {

class TensorReader {
 public:
  // Without a folder, external data is refused.
  TensorReader(Model& model, const Origin& origin, std::optional<std::filesystem::path> folder)
      : model_(model), origin_(origin), folder_(std::move(folder)) {}

  Kept<Tensor> read(Bytes message);
  Kept<SparseTensor> read_sparse(Bytes message);

 private:
  Bytes external_bytes(const Tensor& tensor, const std::vector<Bytes>& entries);

  Model& model_;
  const Origin& origin_;
  std::optional<std::filesystem::path> folder_;
};

}  // namespace ounce::onnx
