// Property tests on random models. Failing models are shrunk to small ones.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/serializer.h"
#include "formats/onnx/file/tensor_reader.h"
#include "fuzz/check_model.h"
#include "fuzz/sample_models.h"
#include "support/model_builder.h"

namespace ounce::onnx {
namespace {

using test::field;

rc::Gen<std::string> payloads() { return rc::gen::container<std::string>(rc::gen::arbitrary<char>()); }

// A field of a later schema: any number from 50 on, of any wire type.
rc::Gen<std::string> unknown_fields() {
  return rc::gen::mapcat(rc::gen::inRange<std::uint32_t>(50, 5000), [](std::uint32_t number) {
    return rc::gen::oneOf(
        rc::gen::map(payloads(), [=](const std::string& bytes) { return field(number, bytes); }),
        rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                     [=](std::int64_t value) { return field(number, value); }),
        rc::gen::map(rc::gen::arbitrary<std::uint32_t>(),
                     [=](std::uint32_t value) { return test::fixed32_field(number, value); }));
  });
}

rc::Gen<std::string> names() { return rc::gen::container<std::string>(rc::gen::inRange<char>('a', 'z')); }

rc::Gen<std::string> tensors() {
  return rc::gen::map(
      rc::gen::pair(names(), rc::gen::container<std::vector<float>>(rc::gen::arbitrary<float>())),
      [](const auto& parts) {
        return test::float_tensor(parts.first, {static_cast<std::int64_t>(parts.second.size())},
                                  parts.second);
      });
}

rc::Gen<std::string> message_of(std::vector<rc::Gen<std::string>> fields);

std::string joined(const std::vector<std::string>& pieces) {
  std::string bytes;
  for (const std::string& piece : pieces) bytes += piece;
  return bytes;
}

rc::Gen<std::string> in_field(std::uint32_t number, const rc::Gen<std::string>& payload) {
  return rc::gen::map(payload, [=](const std::string& bytes) { return field(number, bytes); });
}

// Fields in any order and with any number of occurrences, as allowed for repeated fields.
rc::Gen<std::string> message_of(std::vector<rc::Gen<std::string>> fields) {
  fields.push_back(unknown_fields());
  const auto any = rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, fields.size()),
                                   [fields](std::size_t i) { return fields[i]; });
  return rc::gen::map(rc::gen::scale(0.3, rc::gen::container<std::vector<std::string>>(any)), joined);
}

rc::Gen<std::string> graphs(int depth) {
  const auto value_info = message_of({in_field(3, payloads())});
  std::vector<rc::Gen<std::string>> attribute_fields = {in_field(10, tensors()), in_field(9, payloads())};
  if (depth > 0) attribute_fields.push_back(in_field(11, graphs(depth - 1)));
  const auto node = message_of({in_field(1, names()), in_field(2, names()),
                                in_field(5, message_of(attribute_fields)), in_field(6, payloads())});
  return message_of(
      {in_field(1, node), in_field(5, tensors()), in_field(11, value_info), in_field(13, value_info)});
}

rc::Gen<std::string> models() {
  const auto rest = message_of(
      {in_field(25, message_of({in_field(4, names()), in_field(8, payloads())})), in_field(6, payloads())});
  return rc::gen::map(rc::gen::tuple(rest, graphs(2), rest), [](const auto& parts) {
    return std::get<0>(parts) + field(7, std::get<1>(parts)) + std::get<2>(parts);
  });
}

class RoundTripTest : public testing::Test {
 protected:
  // The same models in every run; set RC_PARAMS="seed=…" for others.
  static void SetUpTestSuite() { ::setenv("RC_PARAMS", "seed=20250101", 0); }
};

TEST_F(RoundTripTest, AnyTreeOfMessagesComesBackIdentical) {
  EXPECT_TRUE(rc::check([] {
    const std::string bytes = *models();
    read_model_from_memory(bytes, "accepted");
    test::check_model(bytes);
  }));
}

TEST_F(RoundTripTest, AnyPacketOfBytesIsRefusedOrIsAModel) {
  EXPECT_TRUE(rc::check([] { test::check_model(*payloads()); }));
}

}  // namespace
}  // namespace ounce::onnx
