// The values of a tensor in the layout of raw_data, wherever and however the file holds them.
#pragma once

#include <string>

#include "onnx/model.h"

namespace ounce::onnx {

// A view of a tensor's values. Usually of the mapped file; of a copy inside when the file spells the
// values out one by one (int32_data of float16, say). Not for strings or Computed tensors.
class RawValues {
 public:
  explicit RawValues(const Tensor& tensor);
  RawValues(const RawValues&) = delete;
  RawValues& operator=(const RawValues&) = delete;

  Bytes bytes() const { return bytes_; }

 private:
  std::string decoded_;
  Bytes bytes_;
};

// The values of an Encoded tensor in raw layout.
std::string decode_to_raw(const Tensor& tensor);
// Adds the string_data fields of a tensor of strings.
void append_string_fields(const Tensor& tensor, CarriedFields& fields);

}  // namespace ounce::onnx
