// The description of a Core ML model: inputs, outputs, states, functions and metadata.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/element_type.h"
#include "formats/coreml/file/model.h"

namespace ounce::coreml {

// An input, output or state as an application sees it.
struct Feature {
  enum class Kind : std::uint8_t { kOther, kArray, kImage, kInt64, kDouble, kString, kDictionary, kSequence };
  struct Dimension {
    std::int64_t lower = 0, upper = 0;  // equal: fixed size; upper -1: unlimited
  };
  std::string name;
  Kind kind = Kind::kOther;
  ElementType type = ElementType::kUndefined;  // of an array
  std::vector<Dimension> dims;                 // of an array: its shape; of an image: height and width
  std::string color;                           // of an image: "RGB" …
  bool is_state = false;
};

struct FunctionDescription {
  std::string name;
  std::vector<Feature> inputs, outputs, states;
};

struct ModelDescription {
  std::string default_function;  // "main" by default
  std::vector<Feature> inputs, outputs, states;
  std::vector<FunctionDescription> functions;  // of a model with several
  std::string short_description, version, author, license;
  std::vector<std::pair<std::string, std::string>> user_defined;
};

// Throws Error{kBadInput}.
ModelDescription describe_model(const Model& model);

// Sets or replaces an entry of the user-defined metadata. remove_metadata() does nothing if the key is
// missing.
void set_metadata(Model& model, const std::string& key, const std::string& value);
void remove_metadata(Model& model, const std::string& key);

}  // namespace ounce::coreml
