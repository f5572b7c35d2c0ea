// Serializes a Model into ropes: one for the model file, and one for the external data file if tensors are
// moved there.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/file/cursor.h"
#include "formats/onnx/file/model.h"
#include "io/rope.h"

namespace ounce::onnx {

// Writes one protobuf message field by field, in ascending order of field numbers, and inserts the carried
// fields at their places.

using io::Rope;

class MessageWriter {
 public:
  explicit MessageWriter(const CarriedFields& carried);

  // Fields must come in ascending order.
  template <class Field>
  void text(Field field, Bytes value) {  // writes nothing for an absent value (null data)
    if (value.data() != nullptr) bytes_field(static_cast<std::uint32_t>(field), value);
  }
  template <class Field>
  void integer(Field field, std::int64_t value) {
    integer_field(static_cast<std::uint32_t>(field), value);
  }
  template <class Field>
  void message(Field field, Rope&& rope) {
    message_field(static_cast<std::uint32_t>(field), std::move(rope));
  }

  Rope finish();

 private:
  void carry_below(std::uint32_t number);
  void bytes_field(std::uint32_t number, Bytes value);
  void integer_field(std::uint32_t number, std::int64_t value);
  void message_field(std::uint32_t number, Rope&& rope);
  void add_prefix(std::uint32_t number, std::uint64_t size);

  CarriedFields carried_;  // sorted
  std::size_t next_carried_ = 0;
  Rope rope_;
};

// Where the bytes of initializers are written.
enum class Placement {
  kKeep,      // unchanged: inline or in their external files
  kInline,    // all in the model file
  kExternal,  // large tensors in one data file next to the model
};

struct Serialized {
  Rope model;
  Rope data;  // empty unless Placement::kExternal
};

// Messages that were not edited are copied unchanged. `rewrite_everything` encodes all messages except
// tensors again; for files in protobuf's usual field order the result is the same. Tests use it to check the
// encoder.
Serialized serialize(const Model& model, Placement placement, const std::string& data_location,
                     bool rewrite_everything = false);

}  // namespace ounce::onnx
