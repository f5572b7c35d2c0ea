#include "corpus/changed_model.h"

#include <protozero/pbf_reader.hpp>

#include "support/model_builder.h"

namespace ounce::test {
namespace {

constexpr std::uint32_t kModelGraph = 7, kModelOpset = 8, kGraphInitializer = 5, kGraphInput = 11,
                        kValueName = 1, kTensorName = 8;

// Skips the reader's current field, and returns its bytes.
std::string skipped(protozero::pbf_reader& reader, const char* start) {
  reader.skip();
  return {start, static_cast<std::size_t>(reader.data().data() - start)};
}

// Calls take(number, field bytes, payload of a length-delimited field) for every field of a message.
template <class Function>
void for_each_field(const std::string& message, Function&& take) {
  protozero::pbf_reader reader(message);
  const char* start = reader.data().data();
  while (reader.next()) {
    std::string payload;
    if (reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
      protozero::pbf_reader copy = reader;
      payload = copy.get_string();
    }
    const std::uint32_t number = reader.tag();
    take(number, skipped(reader, start), payload);
    start = reader.data().data();
  }
}

std::string renamed(const std::string& tensor, const std::string& name) {
  std::string bytes;
  for_each_field(tensor, [&](std::uint32_t number, const std::string& whole, const std::string&) {
    if (number != kTensorName) bytes += whole;
  });
  return bytes + field(kTensorName, name);
}

std::string name_of_value(const std::string& value_info) {
  std::string name;
  for_each_field(value_info, [&](std::uint32_t number, const std::string&, const std::string& payload) {
    if (number == kValueName) name = payload;
  });
  return name;
}

std::string graph_with_constants(const std::string& graph,
                                 const std::map<std::string, std::string>& constants) {
  std::string bytes;
  for_each_field(graph, [&](std::uint32_t number, const std::string& whole, const std::string& payload) {
    const auto constant = number == kGraphInput ? constants.find(name_of_value(payload)) : constants.end();
    bytes += constant == constants.end()
                 ? whole
                 : field(kGraphInitializer, renamed(constant->second, constant->first));
  });
  return bytes;
}

}  // namespace

std::string with_constant_inputs(const std::string& model,
                                 const std::map<std::string, std::string>& constants) {
  std::string bytes;
  for_each_field(model, [&](std::uint32_t number, const std::string& whole, const std::string& payload) {
    bytes += number == kModelGraph ? field(kModelGraph, graph_with_constants(payload, constants)) : whole;
  });
  return bytes;
}

std::string with_opset(const std::string& model, std::int64_t version) {
  std::string bytes;
  for_each_field(model, [&](std::uint32_t number, const std::string& whole, const std::string&) {
    if (number != kModelOpset) bytes += whole;
  });
  return bytes + field(kModelOpset, field(2, version));
}

}  // namespace ounce::test
