// Walks the fields of one message and checks everything on the way: lengths against what remains,
// varints, wire types, fields that may stand only once. Every error names the byte in the file.
//
//   Cursor cursor(message, origin, "NodeProto");
//   while (cursor.next()) {
//     switch (cursor.field<NodeField>()) {
//       case NodeField::kName: cursor.once(node.name); break;
//       default: cursor.carry(node.carried);
//     }
//   }
#pragma once

#include <protozero/pbf_reader.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/onnx/file/message.h"

namespace ounce::onnx {

// What byte offsets count from, and what to call it.
struct Origin {
  Bytes bytes;
  std::string name;
};

class Cursor {
 public:
  Cursor(Bytes message, const Origin& origin, const char* message_name);

  bool next();  // to the next field; false at the end
  std::uint32_t number() const { return number_; }
  template <class Field>
  Field field() const {
    return static_cast<Field>(number_);
  }
  bool is_length_delimited() const;

  Bytes bytes();            // a string, bytes or message field
  std::int64_t integer();   // a varint
  void once(Bytes& value);  // a singular string or message: absent before
  Bytes name();             // a string that names something: no control characters
  void once_name(Bytes& value);
  void integers(std::vector<std::int64_t>& values);  // one entry, or several packed ones
  void carry(CarriedFields& fields);                 // keeps a field that is not interpreted
  void skip();                                       // leaves it out: somebody else keeps its bytes

  // A repeated number field: how many entries stand here, and their bytes if they are packed.
  // fixed_width is the size of an entry in bytes; 0 means varints.
  struct Entries {
    std::uint64_t count;
    Bytes packed;
  };
  Entries entries(int fixed_width);
  void expect(protozero::pbf_wire_type type) const;

  [[noreturn]] void fail(const std::string& what) const;  // names the current field's offset

 private:
  std::uint64_t offset_of(const char* position) const;
  void check_prefix(const char* end) const;
  template <class Function>
  auto guarded(Function&& function) const;

  protozero::pbf_reader reader_;
  const Origin* origin_;
  const char* message_name_;
  const char* field_start_;
  std::uint32_t number_ = 0;
};

}  // namespace ounce::onnx
