// Conversion of mutated models to FP16 and BF16: each is refused with a one-line error, or becomes a model
// that graph::validate() accepts.
#include <gtest/gtest.h>
#include <ounce/error.h>

#include "base/numbers.h"
#include "fuzz/on_paper.h"
#include "fuzz/sample_networks.h"
#include "support/mutated_model.h"

namespace ounce::quantization {
namespace {

constexpr int kHalfMutations = 12000;

TEST(HalfMutation, AnyModelIsRefusedOrBecomesAModel) {
  Recipe recipes[3];
  for (Recipe& recipe : recipes) recipe.format = Format::kFp16;
  recipes[1].half.half_io = true;
  recipes[2].format = Format::kBf16;
  const std::vector<std::string> models = {test::network_with_branches(), test::network_with_functions(),
                                           test::network_with_fills(17), test::network_with_fills(9)};
  ThreadPool pool(1);
  for (const std::string& model : models) {
    for (const Recipe& recipe : recipes) EXPECT_NO_THROW(test::halves_on_paper(model, recipe, pool));
  }
  Random random(7);
  int sound = 0;
  for (int i = 0; i < kHalfMutations; ++i) {
    const std::string bytes = test::mutated(models[static_cast<std::size_t>(i) % models.size()], random);
    try {
      test::halves_on_paper(bytes, recipes[i % 3], pool);
      ++sound;
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << "mutation " << i << ": " << error.what();
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_GT(sound, kHalfMutations / 8);
}

}  // namespace
}  // namespace ounce::quantization
