#include "formats/onnx/file/top_fields.h"

#include <protozero/pbf_message.hpp>
#include <protozero/pbf_writer.hpp>

#include "formats/onnx/file/schema.h"

namespace ounce::onnx {
namespace {

constexpr auto kMetadataTag = static_cast<protozero::pbf_tag_type>(ModelField::kMetadata);

// The fields that stay when `is_left_out` is asked about every metadata entry.
template <class IsLeftOut>
std::vector<Bytes> kept_fields(Bytes file, const IsLeftOut& is_left_out) {
  std::vector<Bytes> kept;
  protozero::pbf_reader reader(file.data(), file.size());
  for (std::size_t begin = 0; reader.next();) {
    protozero::data_view entry;
    const bool is_metadata =
        reader.tag() == kMetadataTag && reader.wire_type() == protozero::pbf_wire_type::length_delimited;
    if (is_metadata) {
      entry = reader.get_view();
    } else {
      reader.skip();
    }
    const std::size_t end = file.size() - reader.length();
    if (!is_metadata || !is_left_out(entry)) kept.push_back(file.substr(begin, end - begin));
    begin = end;
  }
  return kept;
}

}  // namespace

std::vector<Bytes> fields_without_metadata(Bytes file) {
  return kept_fields(file, [](protozero::data_view) { return true; });
}

std::vector<Bytes> fields_without_entry(Bytes file, std::string_view key) {
  return kept_fields(file, [&](protozero::data_view view) {
    protozero::pbf_message<EntryField> entry(view);
    Bytes found;
    while (entry.next(EntryField::kKey, protozero::pbf_wire_type::length_delimited)) {
      const protozero::data_view name = entry.get_view();
      found = {name.data(), name.size()};
    }
    return found == key;
  });
}

std::string metadata_field(std::string_view key, std::string_view value) {
  std::string entry, field;
  protozero::pbf_writer inner(entry);
  inner.add_string(static_cast<protozero::pbf_tag_type>(EntryField::kKey), key.data(), key.size());
  inner.add_string(static_cast<protozero::pbf_tag_type>(EntryField::kValue), value.data(), value.size());
  protozero::pbf_writer(field).add_message(kMetadataTag, entry);
  return field;
}

void set_metadata(Model& model, const std::string& key, const std::string& value) {
  auto& metadata = model.proto.edit().metadata;
  std::erase_if(metadata, [&](const auto& entry) { return entry->key == key; });
  MetadataEntry entry;
  entry.key = model.intern(key);
  entry.value = model.intern(value);
  metadata.emplace_back(entry);
}

}  // namespace ounce::onnx
