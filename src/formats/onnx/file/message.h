// How messages of the file are held in memory so that what nobody edits is written back as it was.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace ounce::onnx {

// Bytes of the mapped file or of the model's own text; valid as long as the Model.
// A view whose data() is null says that the field was absent, which is not the same as empty.
using Bytes = std::string_view;

// A field that we do not interpret: its number, and its tag and payload as they stood in the file.
struct CarriedField {
  std::uint32_t number;
  Bytes bytes;
};
using CarriedFields = std::vector<CarriedField>;

// A message read from a file, together with its bytes there. Reading goes through -> and *; the only
// way to change it is edit(), which forgets the bytes. To reach a message for editing, one has to
// edit() everything around it, so a message that still has its bytes is untouched at every depth,
// and the writer copies it verbatim.
template <class T>
class Kept {
 public:
  Kept() = default;
  explicit Kept(T value) : value_(std::move(value)) {}
  Kept(T value, Bytes file_bytes) : value_(std::move(value)), file_bytes_(file_bytes) {}

  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  T& edit() {
    file_bytes_ = {};
    return value_;
  }

  bool is_edited() const { return file_bytes_.data() == nullptr; }
  Bytes file_bytes() const { return file_bytes_; }

 private:
  T value_;
  Bytes file_bytes_;
};

}  // namespace ounce::onnx
