#include "data/source/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using ounce::test::float_tensor;
using testing::ElementsAre;
using testing::EndsWith;

class TestFolderSourceTest : public testing::Test {
 protected:
  void add(const std::string& path, const std::string& name, const std::vector<float>& values) const {
    std::filesystem::create_directories((folder / path).parent_path());
    const auto count = static_cast<std::int64_t>(values.size());
    ounce::test::write_file(folder / path, float_tensor(name, {1, count}, values));
  }

  ounce::test::TemporaryFolder folder;
};

TEST_F(TestFolderSourceTest, EverySetIsASample) {
  for (const int set : {0, 2, 10}) {
    const std::string name = "test_data_set_" + std::to_string(set);
    add(name + "/input_0.pb", "data", {static_cast<float>(set)});
    add(name + "/input_1.pb", "", {1, 2});
    add(name + "/output_0.pb", "probabilities", {3});
  }
  TestFolderSource source(folder.path());
  EXPECT_EQ(source.size(), 3U);
  EXPECT_TRUE(source.has_batch_axis());
  ASSERT_EQ(source.fields().size(), 3U);
  EXPECT_EQ(source.fields()[0].name, "data");
  EXPECT_EQ(source.fields()[1].name, "input_1");
  EXPECT_EQ(source.fields()[2].name, "output_0");
  EXPECT_FALSE(source.fields()[0].dims);
  const Sample sample = source.read(2);
  EXPECT_EQ(sample.name, "test_data_set_10");
  EXPECT_EQ(sample.find("data")->dims, (Dims{1, 1}));
  EXPECT_THAT(values_of<float>(*sample.find("data")), ElementsAre(10.0F));
  EXPECT_THAT(values_of<float>(*sample.find("output_0")), ElementsAre(3.0F));
  EXPECT_EQ(error_of([&] { source.read(3); }).code(), ErrorCode::kInternal);
}

TEST_F(TestFolderSourceTest, InputsStandInTheOrderOfTheirNumbers) {
  for (const int input : {10, 9, 1, 0}) add("input_" + std::to_string(input) + ".pb", "", {1});
  add("input_x.pb", "", {1});
  TestFolderSource source(folder.path());
  EXPECT_EQ(source.size(), 1U);
  ASSERT_EQ(source.fields().size(), 4U);
  EXPECT_EQ(source.fields()[3].name, "input_10");
  EXPECT_EQ(source.fields()[0].dims, (Dims{1, 1}));
}

TEST_F(TestFolderSourceTest, RefusesFoldersWithoutSets) {
  EXPECT_THAT(error_of([&] { TestFolderSource source(folder.path()); }).what(),
              EndsWith(": has neither test_data_set_0 … nor input_0.pb …"));
  EXPECT_EQ(error_of([&] { TestFolderSource source(folder / "none"); }).code(), ErrorCode::kIo);
  add("test_data_set_0/output_0.pb", "y", {1});
  EXPECT_THAT(error_of([&] { TestFolderSource source(folder.path()); }).what(),
              EndsWith("has no input_0.pb …"));
}

TEST_F(TestFolderSourceTest, RefusesSetsThatDiffer) {
  add("test_data_set_0/input_0.pb", "x", {1});
  add("test_data_set_1/input_0.pb", "y", {1});
  TestFolderSource source(folder.path());
  EXPECT_THAT(
      error_of([&] { source.read(1); }).what(),
      EndsWith("test_data_set_1: the tensors differ in number, name or type from those of test_data_set_0"));
}

TEST_F(TestFolderSourceTest, RefusesTwoTensorsOfOneName) {
  add("input_0.pb", "x", {1});
  add("input_1.pb", "x", {1});
  EXPECT_THAT(error_of([&] { TestFolderSource source(folder.path()); }).what(),
              EndsWith("two tensors named 'x'"));
}

}  // namespace
}  // namespace ounce::data
