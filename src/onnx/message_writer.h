// Writes one message field by field, in the order of the field numbers as protobuf does, with the
// carried fields in their places among them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "onnx/message.h"
#include "onnx/rope.h"

namespace ounce::onnx {

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

}  // namespace ounce::onnx
