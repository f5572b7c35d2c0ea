// Protobuf messages of model files: reads them, and keeps them in memory so that messages that were not
// edited are written back byte for byte.
#pragma once

#include <protozero/pbf_reader.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ounce::protobuf {

// Bytes of the mapped file or of the model's own text; valid as long as the Model.
// A view with null data() means that the field was absent, which is not the same as empty.
using Bytes = std::string_view;

// A field that Ounce does not interpret: its number, and its tag and payload as in the file.
struct CarriedField {
  std::uint32_t number;
  Bytes bytes;
};
using CarriedFields = std::vector<CarriedField>;

// A message read from a file, together with its original bytes. Read through -> and *. The only way to change
// it is edit(), which drops the original bytes. To edit a message, the caller must edit() every message
// around it. A message that still has its bytes is therefore unmodified at every depth, and the writer copies
// it.
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

// Iterates over the fields of one message and checks lengths, varints, wire types and singular fields. Every
// error names the byte offset in the file.
//
//   Cursor cursor(message, origin, "NodeProto");
//   while (cursor.next()) {
//     switch (cursor.field<NodeField>()) {
//       case NodeField::kName: cursor.once(node.name); break;
//       default: cursor.carry(node.carried);
//     }
//   }

// The buffer that byte offsets refer to, and its name in messages.
struct Origin {
  Bytes bytes;
  std::string name;
  const char* format = "ONNX";  // for messages
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
  void once(Bytes& value);  // a singular string or message; fails if it appears twice
  Bytes name();             // a string without control characters; fails otherwise
  void once_name(Bytes& value);
  void integers(std::vector<std::int64_t>& values);  // one entry, or several packed ones
  void carry(CarriedFields& fields);                 // keeps a field that is not interpreted
  void skip();                                       // drops the field; its bytes are kept elsewhere

  // A repeated number field: the count of entries in this occurrence, and their bytes if they are packed.
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

}  // namespace ounce::protobuf
