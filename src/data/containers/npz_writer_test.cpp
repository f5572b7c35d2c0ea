#include "data/containers/npy.h"

#include <gmock/gmock.h>

#include "data/source/sources.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"

namespace ounce::data {
namespace {

using test::tensor_of;
using testing::ElementsAre;

TEST(NpzWriterTest, WhatIsWrittenIsRead) {
  const ounce::test::TemporaryFolder folder;
  const auto path = folder.path() / "all.npz";
  NpzWriter archive(path);
  const Tensor x = tensor_of<float>({3, 2}, {1, 2, 3, 4, 5, 6}), y = tensor_of<std::int64_t>({3}, {7, 8, 9});
  archive.begin("x", x.type, x.dims);
  archive.write(x.bytes.substr(0, 8));
  archive.write(x.bytes.substr(8));
  archive.begin("y/0", y.type, y.dims);
  archive.write(y.bytes);
  archive.finish();
  const auto all = NpzSource::list(path);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "x");
  EXPECT_THAT(all[0].dims, ElementsAre(3, 2));
  EXPECT_EQ(all[0].type, ElementType::kFloat);
  EXPECT_EQ(all[0].problem + all[1].problem, "");
  EXPECT_EQ(all[1].name, "y/0");
  EXPECT_THAT(all[1].dims, ElementsAre(3));
}

TEST(NpzWriterTest, TypesThatNumpyDoesNotHaveAreKnown) {
  EXPECT_TRUE(is_numpy_type(ElementType::kFloat16));
  EXPECT_TRUE(is_numpy_type(ElementType::kBool));
  EXPECT_FALSE(is_numpy_type(ElementType::kString));
  EXPECT_FALSE(is_numpy_type(ElementType::kBfloat16));
}

TEST(NpzWriterTest, AFolderThatIsNotThereIsNamed) {
  const Error error = ounce::test::error_of([] { NpzWriter("/nowhere/at/all.npz"); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), testing::HasSubstr("/nowhere/at/all.npz"));
}

}  // namespace
}  // namespace ounce::data
