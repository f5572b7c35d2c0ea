// The fields of an attribute, as the file has them.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <cstdint>

#include "onnx/attributes.h"

namespace ounce::onnx {

// Calls visit(reader) for each occurrence of `field`. The reader of the file has checked their structure.
template <class Visit>
void visit_field(const Attribute& attribute, AttributeField field, Visit visit) {
  for (const CarriedField& carried : attribute.carried) {
    if (carried.number != static_cast<std::uint32_t>(field)) continue;
    protozero::pbf_reader reader(carried.bytes.data(), carried.bytes.size());
    if (reader.next()) visit(reader);
  }
}

}  // namespace ounce::onnx
