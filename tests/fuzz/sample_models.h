// Small models that together have every message and every kind of field of the format: seeds for the mutation
// test and the fuzzer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ounce::test {

struct Sample {
  std::string name, bytes;
};
std::vector<Sample> sample_models();

// Every message of the format, each with a field of an unknown number, all in the order that protobuf writes.
std::string everything_model();

// A main graph around `depth` graphs, one inside the other.
std::string nested_model(int depth);
// A model whose input has a sequence of a sequence of … `depth` of them.
std::string nested_type_model(int depth);

// Payloads that model_builder.h has no name for.
std::string fixed32_field(std::uint32_t number, std::uint32_t value);
std::string fixed64_field(std::uint32_t number, std::uint64_t value);
std::string packed_varints(const std::vector<std::int64_t>& values);

}  // namespace ounce::test
