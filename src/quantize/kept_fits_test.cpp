#include "quantize/weight_fit.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace ounce::quantization {
namespace {

FittedWeight some_fit() {
  return {{{1.5F, 1 / 1.5F, 8}, {-2, -0.5F, 8}}, std::make_shared<std::vector<std::uint8_t>>(7, 0xa5)};
}

TEST(KeptFits, WhatWasFoundIsFoundAgain) {
  const ounce::test::TemporaryFolder folder;
  const KeptFits kept(folder / "out.onnx.fits");
  FittedWeight found;
  EXPECT_FALSE(kept.find("a", 2, 7, found));
  kept.add("a", some_fit());
  EXPECT_EQ(std::filesystem::status(folder / "out.onnx.fits").permissions(),
            std::filesystem::perms::owner_all);
  ASSERT_TRUE(kept.find("a", 2, 7, found));
  EXPECT_EQ(found.affine[1].scale, -2);
  EXPECT_EQ(*found.codes, *some_fit().codes);
  EXPECT_FALSE(kept.find("b", 2, 7, found));
  EXPECT_FALSE(kept.find("a", 3, 7, found));
  kept.clear();
  EXPECT_FALSE(std::filesystem::exists(folder / "out.onnx.fits"));
}

TEST(KeptFits, WhatIsBrokenIsNotTaken) {
  const ounce::test::TemporaryFolder folder;
  const KeptFits kept(folder / "fits");
  kept.add("a", some_fit());
  {
    std::fstream file(folder / "fits" / "a.fit", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(3);
    file.put('!');
  }
  FittedWeight found;
  EXPECT_FALSE(kept.find("a", 2, 7, found));
}

TEST(KeptFits, WithoutAFolderNothingIsKept) {
  const KeptFits kept("");
  kept.add("a", some_fit());
  FittedWeight found;
  EXPECT_FALSE(kept.find("a", 2, 7, found));
  kept.clear();
}

}  // namespace
}  // namespace ounce::quantization
