#include "formats/coreml/file/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ounce::coreml {
namespace {

using protobuf::Cursor;
using protobuf::Origin;

std::string text(Cursor& cursor) { return std::string(cursor.bytes()); }

// FeatureTypes.proto's ArrayDataType: 0x10000 for floats, 0x20000 for integers, and the width.
ElementType array_type(std::int64_t number) {
  switch (number) {
    case 65552: return ElementType::kFloat16;
    case 65568: return ElementType::kFloat;
    case 65600: return ElementType::kDouble;
    case 131080: return ElementType::kInt8;
    case 131104: return ElementType::kInt32;
    default: return ElementType::kUndefined;
  }
}

const char* color_name(std::int64_t number) {
  switch (number) {
    case 10: return "grayscale";
    case 20: return "RGB";
    case 30: return "BGR";
    case 40: return "grayscale float16";
    default: return "";
  }
}

class DescriptionReader {
 public:
  explicit DescriptionReader(const Model& model)
      : origin_{model.file.bytes(), model.path.string(), "Core ML"} {}

  // A cursor after the tag of a carried field.
  Cursor field(const protobuf::CarriedField& carried, const char* name) const {
    Cursor cursor(carried.bytes, origin_, name);
    cursor.next();
    return cursor;
  }

  Feature feature(Bytes message) const {
    Feature feature;
    Cursor cursor(message, origin_, "FeatureDescription");
    while (cursor.next()) {
      switch (cursor.field<FeatureField>()) {
        case FeatureField::kName: feature.name = cursor.name(); break;
        case FeatureField::kType: read_type(cursor.bytes(), feature); break;
        default: cursor.skip();
      }
    }
    return feature;
  }

  FunctionDescription function(Bytes message) const {
    FunctionDescription function;
    Cursor cursor(message, origin_, "FunctionDescription");
    while (cursor.next()) {
      switch (cursor.field<FunctionDescriptionField>()) {
        case FunctionDescriptionField::kName: function.name = cursor.name(); break;
        case FunctionDescriptionField::kInput: function.inputs.push_back(feature(cursor.bytes())); break;
        case FunctionDescriptionField::kOutput: function.outputs.push_back(feature(cursor.bytes())); break;
        case FunctionDescriptionField::kState: function.states.push_back(feature(cursor.bytes())); break;
        default: cursor.skip();
      }
    }
    return function;
  }

 private:
  void read_type(Bytes message, Feature& feature) const {
    Cursor cursor(message, origin_, "FeatureType");
    while (cursor.next()) {
      switch (cursor.field<FeatureTypeField>()) {
        case FeatureTypeField::kInt64: feature.kind = Feature::Kind::kInt64; break;
        case FeatureTypeField::kDouble: feature.kind = Feature::Kind::kDouble; break;
        case FeatureTypeField::kString: feature.kind = Feature::Kind::kString; break;
        case FeatureTypeField::kDictionary: feature.kind = Feature::Kind::kDictionary; break;
        case FeatureTypeField::kSequence: feature.kind = Feature::Kind::kSequence; break;
        case FeatureTypeField::kImage: read_image(cursor.bytes(), feature); continue;
        case FeatureTypeField::kArray: read_array(cursor.bytes(), feature); continue;
        case FeatureTypeField::kState: read_state(cursor.bytes(), feature); continue;
        default: break;
      }
      cursor.skip();
    }
  }

  void read_state(Bytes message, Feature& feature) const {
    feature.is_state = true;
    Cursor cursor(message, origin_, "StateFeatureType");
    while (cursor.next()) {
      if (cursor.field<StateTypeField>() == StateTypeField::kArray) {
        read_array(cursor.bytes(), feature);
      } else {
        cursor.skip();
      }
    }
  }

  void read_image(Bytes message, Feature& feature) const {
    feature.kind = Feature::Kind::kImage;
    feature.dims.assign(2, {});
    bool is_flexible = false;
    Cursor cursor(message, origin_, "ImageFeatureType");
    while (cursor.next()) {
      const auto size = [&](std::size_t axis) {
        const std::int64_t value = cursor.integer();
        feature.dims[axis] = {value, value};
      };
      switch (cursor.field<ImageField>()) {
        case ImageField::kWidth: size(1); break;
        case ImageField::kHeight: size(0); break;
        case ImageField::kColorSpace: feature.color = color_name(cursor.integer()); break;
        case ImageField::kEnumeratedSizes:
        case ImageField::kSizeRange:
          is_flexible = true;
          cursor.skip();
          break;
        default: cursor.skip();
      }
    }
    if (is_flexible) feature.dims.assign(2, {0, -1});
  }

  void read_array(Bytes message, Feature& feature) const {
    feature.kind = Feature::Kind::kArray;
    std::vector<std::int64_t> shape;
    std::vector<std::vector<std::int64_t>> shapes;
    std::vector<Feature::Dimension> ranges;
    Cursor cursor(message, origin_, "ArrayFeatureType");
    while (cursor.next()) {
      switch (cursor.field<ArrayField>()) {
        case ArrayField::kShape: cursor.integers(shape); break;
        case ArrayField::kDataType: feature.type = array_type(cursor.integer()); break;
        case ArrayField::kEnumeratedShapes: read_shapes(cursor.bytes(), shapes); break;
        case ArrayField::kShapeRange: read_ranges(cursor.bytes(), ranges); break;
        default: cursor.skip();
      }
      if (shape.size() > kMostDimensions || ranges.size() > kMostDimensions)
        cursor.fail("an array has too many dimensions");
    }
    for (const std::int64_t size : shape) feature.dims.push_back({size, size});
    for (const auto& other : shapes) {
      for (std::size_t i = 0; i < std::min(other.size(), feature.dims.size()); ++i) {
        feature.dims[i].lower = std::min(feature.dims[i].lower, other[i]);
        feature.dims[i].upper = std::max(feature.dims[i].upper, other[i]);
      }
    }
    if (!ranges.empty()) feature.dims = ranges;
  }

  void read_shapes(Bytes message, std::vector<std::vector<std::int64_t>>& shapes) const {
    Cursor cursor(message, origin_, "EnumeratedShapes");
    while (cursor.next()) {
      if (cursor.field<ShapesField>() != ShapesField::kShape) {
        cursor.skip();
        continue;
      }
      Cursor shape(cursor.bytes(), origin_, "Shape");
      std::vector<std::int64_t>& sizes = shapes.emplace_back();
      while (shape.next()) {
        if (shape.field<ShapesField>() == ShapesField::kShape) {
          shape.integers(sizes);
        } else {
          shape.skip();
        }
      }
    }
  }

  void read_ranges(Bytes message, std::vector<Feature::Dimension>& ranges) const {
    Cursor cursor(message, origin_, "ShapeRange");
    while (cursor.next()) {
      if (cursor.field<ShapeRangeField>() != ShapeRangeField::kSize) {
        cursor.skip();
        continue;
      }
      Cursor range(cursor.bytes(), origin_, "SizeRange");
      Feature::Dimension& dimension = ranges.emplace_back();
      while (range.next()) {
        switch (range.field<SizeRangeField>()) {
          case SizeRangeField::kLower: dimension.lower = range.integer(); break;
          case SizeRangeField::kUpper: dimension.upper = range.integer(); break;
          default: range.skip();
        }
      }
    }
  }

  Origin origin_;
};

void read_metadata(const Metadata& metadata, const DescriptionReader& reader, ModelDescription& description) {
  for (const auto& entry : metadata.user_defined)
    description.user_defined.emplace_back(entry->key, entry->value);
  for (const protobuf::CarriedField& carried : metadata.carried) {
    std::string* place = nullptr;
    switch (static_cast<MetadataField>(carried.number)) {
      case MetadataField::kShortDescription: place = &description.short_description; break;
      case MetadataField::kVersion: place = &description.version; break;
      case MetadataField::kAuthor: place = &description.author; break;
      case MetadataField::kLicense: place = &description.license; break;
      default: break;
    }
    if (place == nullptr) continue;
    Cursor cursor = reader.field(carried, "Metadata");
    *place = text(cursor);
  }
}

}  // namespace

ModelDescription describe_model(const Model& model) {
  ModelDescription description;
  description.default_function = "main";
  if (model.proto->description.empty()) return description;
  const Description& source = *model.proto->description[0];
  const DescriptionReader reader(model);
  for (const protobuf::CarriedField& carried : source.carried) {
    Cursor cursor = reader.field(carried, "ModelDescription");
    switch (static_cast<DescriptionField>(carried.number)) {
      case DescriptionField::kInput: description.inputs.push_back(reader.feature(cursor.bytes())); break;
      case DescriptionField::kOutput: description.outputs.push_back(reader.feature(cursor.bytes())); break;
      case DescriptionField::kState: description.states.push_back(reader.feature(cursor.bytes())); break;
      case DescriptionField::kFunction:
        description.functions.push_back(reader.function(cursor.bytes()));
        break;
      case DescriptionField::kDefaultFunction: description.default_function = cursor.name(); break;
      default: break;
    }
  }
  if (!source.metadata.empty()) read_metadata(*source.metadata[0], reader, description);
  return description;
}

namespace {

Metadata& edit_metadata(Model& model) {
  ModelProto& proto = model.proto.edit();
  if (proto.description.empty()) proto.description.emplace_back();
  Description& description = proto.description[0].edit();
  if (description.metadata.empty()) description.metadata.emplace_back();
  return description.metadata[0].edit();
}

}  // namespace

void set_metadata(Model& model, const std::string& key, const std::string& value) {
  remove_metadata(model, key);
  MetadataEntry entry;
  entry.key = model.intern(key);
  entry.value = model.intern(value);
  edit_metadata(model).user_defined.emplace_back(entry);
}

void remove_metadata(Model& model, const std::string& key) {
  const auto has_key = [&](const auto& entry) { return entry->key == key; };
  if (model.proto->description.empty() || model.proto->description[0]->metadata.empty()) return;
  const auto& entries = model.proto->description[0]->metadata[0]->user_defined;
  if (std::any_of(entries.begin(), entries.end(), has_key))
    std::erase_if(edit_metadata(model).user_defined, has_key);
}

}  // namespace ounce::coreml
