#include "corpus/constant_inputs.h"

#include <protozero/pbf_reader.hpp>

#include "support/model_builder.h"

namespace ounce::test {
namespace {

constexpr std::uint32_t kModelGraph = 7, kGraphInitializer = 5, kGraphInput = 11, kValueName = 1, kTensorName = 8;

// The field that the reader stands at, as it is in the file.
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

std::string graph_with_constants(const std::string& graph, const std::vector<TestInput>& inputs, const std::vector<bool>& is_constant) {
  std::string bytes;
  std::size_t position = 0;
  for_each_field(graph, [&](std::uint32_t number, const std::string& whole, const std::string& payload) {
    const std::size_t input = number == kGraphInput ? position++ : inputs.size();
    if (input < inputs.size() && is_constant[input]) {
      bytes += field(kGraphInitializer, renamed(inputs[input].message, name_of_value(payload)));
    } else {
      bytes += whole;
    }
  });
  return bytes;
}

}  // namespace

std::string with_constant_inputs(const std::string& model, const std::vector<TestInput>& inputs, const std::vector<bool>& is_constant) {
  std::string bytes;
  for_each_field(model, [&](std::uint32_t number, const std::string& whole, const std::string& payload) {
    bytes += number == kModelGraph ? field(kModelGraph, graph_with_constants(payload, inputs, is_constant)) : whole;
  });
  return bytes;
}

}  // namespace ounce::test
