#include "data/source/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using ounce::test::write_file;
using testing::EndsWith;

class RawSourceTest : public testing::Test {
 protected:
  void SetUp() override { write_file(folder / "values.bin", std::string("ab\0def", 6)); }
  Error refusal(ElementType type, const Dims& dims) const {
    return error_of([&] { RawSource(folder / "values.bin", type, dims); });
  }

  ounce::test::TemporaryFolder folder;
};

TEST_F(RawSourceTest, CutsTheFileIntoSamples) {
  RawSource source(folder / "values.bin", ElementType::kInt8, {1, 2});
  EXPECT_EQ(source.size(), 3U);
  EXPECT_EQ(source.fields()[0].name, "values");
  EXPECT_EQ(source.fields()[0].dims, (Dims{1, 2}));
  const Sample sample = source.read(2);
  EXPECT_EQ(sample.name, "values.bin[2]");
  EXPECT_EQ(sample.find("values")->bytes, "ef");
  EXPECT_EQ(sample.find("values")->dims, (Dims{1, 2}));
  EXPECT_EQ(error_of([&] { source.read(3); }).code(), ErrorCode::kInternal);
}

TEST_F(RawSourceTest, PacksNarrowTypesAndChecksBools) {
  EXPECT_EQ(RawSource(folder / "values.bin", ElementType::kInt4, {3}).size(), 3U);
  EXPECT_EQ(RawSource(folder / "values.bin", ElementType::kBool, {3}).read(0).fields[0].tensor.bytes,
            std::string("\1\1\0", 3));
}

TEST_F(RawSourceTest, AnEmptyFileHasNoSamples) {
  write_file(folder / "empty", "");
  EXPECT_EQ(RawSource(folder / "empty", ElementType::kFloat, {2}).size(), 0U);
}

TEST_F(RawSourceTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal(ElementType::kFloat, {}).what(),
              EndsWith("values.bin: has 6 bytes, which is not a multiple of the 4 bytes of float32[]"));
  EXPECT_EQ(refusal(ElementType::kFloat, {}).code(), ErrorCode::kBadInput);
  EXPECT_EQ(refusal(ElementType::kString, {1}).code(), ErrorCode::kUsage);
  EXPECT_EQ(refusal(ElementType::kInt8, {0}).code(), ErrorCode::kUsage);
  EXPECT_EQ(refusal(ElementType::kInt8, {-2}).code(), ErrorCode::kBadInput);
  EXPECT_EQ(refusal(ElementType::kInt8, {INT64_MAX, INT64_MAX}).code(), ErrorCode::kBadInput);
}

}  // namespace
}  // namespace ounce::data
