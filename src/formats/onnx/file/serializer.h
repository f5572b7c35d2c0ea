// Turns a Model into ropes: one for the model file, and one for the external data file if tensors
// are moved there.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/file/cursor.h"
#include "formats/onnx/file/model.h"
#include "io/rope.h"

namespace ounce::onnx {

// Writes one message field by field, in the order of the field numbers as protobuf does, with the
// carried fields in their places among them.

using io::Rope;

class MessageWriter {
 public:
  explicit MessageWriter(const CarriedFields& carried);

  // Fields must come in ascending order.
  template <class Field>
  void text(Field field, Bytes value) {  // an absent one (null data) writes nothing
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

// Where the bytes of initializers go.
enum class Placement {
  kKeep,      // as they are: inline ones inline, external ones in the files they name
  kInline,    // all in the model file
  kExternal,  // the large ones in one data file beside the model
};

struct Serialized {
  Rope model;
  Rope data;  // empty unless Placement::kExternal
};

// Messages that nobody edited are copied verbatim, unless `rewrite_everything` asks for all of them
// but the tensors to be encoded anew: for files in protobuf's usual order that gives the same bytes, which is
// how the encoder is tested.
Serialized serialize(const Model& model, Placement placement, const std::string& data_location,
                     bool rewrite_everything = false);

}  // namespace ounce::onnx
