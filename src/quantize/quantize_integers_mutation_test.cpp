// Randomly mutated models in all INT8 stages except running: each is refused with a one-line error, or
// becomes a model that graph::validate() accepts.
#include <gtest/gtest.h>
#include <ounce/error.h>

#include "base/numbers.h"
#include "fuzz/on_paper.h"
#include "fuzz/sample_networks.h"
#include "support/mutated_model.h"

namespace ounce::quantization {
namespace {

constexpr int kIntegerMutations = 4000;

TEST(IntegerMutation, AnyModelIsRefusedOrBecomesAModel) {
  Recipe dialects[3];
  dialects[0].format = dialects[1].format = Format::kInt8;
  dialects[1].integer.dialect = Dialect::kQOperator;
  dialects[1].integer.integer_io = true;
  dialects[2].format = Format::kInt8Dynamic;
  dialects[2].integer.dynamic_conv = true;
  ThreadPool pool(1);
  Random random(7);
  int sound = 0;
  for (int i = 0; i < kIntegerMutations; ++i) {
    const std::string bytes = test::mutated(test::integer_network(i % 2 == 0 ? 17 : 9), random);
    try {
      test::integers_on_paper(bytes, dialects[i % 3], pool);
      ++sound;
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << "mutation " << i << ": " << error.what();
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_GT(sound, kIntegerMutations / 4);
}

}  // namespace
}  // namespace ounce::quantization
