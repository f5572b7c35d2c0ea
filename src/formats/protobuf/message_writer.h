// Writes one protobuf message field by field, in ascending order of field numbers, and inserts the carried
// fields at their places.
//
//   MessageWriter out(node.carried);
//   out.text(NodeField::kName, node.name);
//   for (const auto& entry : node.attributes) out.message(NodeField::kAttribute, attribute(entry));
//   io::Rope rope = out.finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "formats/protobuf/cursor.h"
#include "io/rope.h"

namespace ounce::protobuf {

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
  void message(Field field, io::Rope&& rope) {
    message_field(static_cast<std::uint32_t>(field), std::move(rope));
  }

  io::Rope finish();

 private:
  void carry_below(std::uint32_t number);
  void bytes_field(std::uint32_t number, Bytes value);
  void integer_field(std::uint32_t number, std::int64_t value);
  void message_field(std::uint32_t number, io::Rope&& rope);
  void add_prefix(std::uint32_t number, std::uint64_t size);

  CarriedFields carried_;  // sorted
  std::size_t next_carried_ = 0;
  io::Rope rope_;
};

}  // namespace ounce::protobuf
