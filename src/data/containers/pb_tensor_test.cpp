#include "data/source/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/mutations.h"
#include "support/temporary_folder.h"

namespace ounce::data {
namespace {

using namespace test;
using ounce::test::error_of;
using ounce::test::field;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

NamedTensor read_tensor(const std::string& bytes) { return read_pb_tensor(bytes, "input_0.pb"); }

std::string header(int type, const std::vector<std::int64_t>& dims) {
  std::string bytes = field(2, std::int64_t{type});
  for (const std::int64_t dim : dims) bytes += field(1, dim);
  return bytes;
}

TEST(PbTensorTest, ReadsRawValues) {
  const NamedTensor named = read_tensor(ounce::test::float_tensor("x", {2, 1}, {1.5F, -2.0F}));
  EXPECT_EQ(named.name, "x");
  EXPECT_EQ(named.tensor.dims, (Dims{2, 1}));
  EXPECT_THAT(values_of<float>(named.tensor), ElementsAre(1.5F, -2.0F));
}

TEST(PbTensorTest, ReadsTypedValues) {
  const auto integers =
      read_tensor(header(7, {2}) + field(7, std::int64_t{-1}) + field(7, std::int64_t{300}));
  EXPECT_THAT(values_of<std::int64_t>(integers.tensor), ElementsAre(-1, 300));
  EXPECT_EQ(integers.name, "");
  const auto halves =
      read_tensor(header(10, {2}) + field(5, std::int64_t{0x3c00}) + field(5, std::int64_t{0xc000}));
  EXPECT_EQ(halves.tensor.type, ElementType::kFloat16);
  EXPECT_THAT(values_of<std::uint16_t>(halves.tensor), ElementsAre(0x3c00, 0xc000));
}

TEST(PbTensorTest, EveryTrueIsOne) {
  EXPECT_EQ(read_tensor(ounce::test::tensor("b", 9, {3}, std::string("\0\x01\x80", 3))).tensor.bytes,
            std::string("\0\1\1", 3));
}

TEST(PbTensorTest, ReadsStrings) {
  const auto strings = read_tensor(header(8, {1, 3}) + field(6, std::string("größe")) +
                                   field(6, std::string()) + field(6, std::string("b")));
  EXPECT_EQ(strings.tensor.type, ElementType::kString);
  EXPECT_EQ(strings.tensor.dims, (Dims{1, 3}));
  EXPECT_THAT(strings.tensor.strings, ElementsAre("größe", "", "b"));
  EXPECT_TRUE(read_tensor(header(8, {0})).tensor.strings.empty());
}

TEST(PbTensorTest, ReadsScalarsAndEmptyTensors) {
  EXPECT_EQ(read_tensor(ounce::test::float_tensor("x", {}, {1})).tensor.dims, Dims{});
  EXPECT_EQ(read_tensor(ounce::test::float_tensor("x", {0, 3}, {})).tensor.bytes, "");
}

TEST(PbTensorTest, RefusesExternalData) {
  const auto external = ounce::test::external_tensor("x", {1}, "weights.bin", "0", "4");
  EXPECT_STREQ(error_of([&] { read_tensor(external); }).what(),
               "input_0.pb: has its values in another file; save it with its values inside");
}

TEST(PbTensorTest, NamesTheFileInErrors) {
  EXPECT_THAT(error_of([] { read_tensor(""); }).what(), EndsWith("input_0.pb: is empty"));
  EXPECT_THAT(error_of([] { read_tensor("\xff\xff"); }).what(),
              HasSubstr("input_0.pb: tensor, byte 0: not a valid"));
  const auto error =
      error_of([] { read_tensor(ounce::test::tensor("x", 1, {std::int64_t{1} << 62}, "1234")); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_EQ(error.where(), "input_0.pb");
}

TEST(PbTensorTest, ReadsAFile) {
  const ounce::test::TemporaryFolder folder;
  ounce::test::write_file(folder / "input_0.pb", ounce::test::float_tensor("x", {1}, {3}));
  EXPECT_EQ(read_pb_tensor(folder / "input_0.pb").name, "x");
  EXPECT_EQ(error_of([&] { read_pb_tensor(folder / "input_1.pb"); }).code(), ErrorCode::kIo);
}

TEST(PbTensorTest, SurvivesDamage) {
  const std::string strings = header(8, {2}) + field(6, std::string("ab")) + field(6, std::string("c"));
  const std::string integers = header(6, {2}) + field(5, std::int64_t{-1}) + field(5, std::int64_t{5});
  for (const std::string& bytes : {ounce::test::float_tensor("x", {2}, {1, 2}), strings, integers}) {
    expect_truncations_refused(bytes, read_tensor);
    expect_safe(bytes, read_tensor);
  }
}

}  // namespace
}  // namespace ounce::data
