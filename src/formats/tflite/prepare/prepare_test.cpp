#include "formats/tflite/prepare/prepare.h"

#include <gmock/gmock.h>

#include "formats/tflite/file/writer.h"
#include "fuzz/check_tflite.h"
#include "fuzz/mutate_tflite.h"
#include "fuzz/sample_tflites.h"
#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TflitePrepare, AModelThatNoPassChangesKeepsItsContent) {
  for (const Model& model : {small_tflite(), quantized_tflite()}) {
    Model same = model;
    EXPECT_THAT(prepare(same, {}), IsEmpty());
    EXPECT_TRUE(same_content(same, model));
  }
}

TEST(TflitePrepare, TheNotesSayWhatWasDone) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1}), h = model.constant("h", {1}, TensorType::kFloat16, {"\x00\x3c", 2}),
             w = model.tensor("w", {1}), s = model.tensor("s", {1}), y = model.tensor("y", {1});
  model.op(Builtin::kDequantize, {h}, {w});
  model.op(Builtin::kAdd, {x, w}, {s}, "AddOptions");
  model.op(Builtin::kRelu, {s}, {y});
  model.inputs({x}).outputs({y});
  EXPECT_THAT(
      prepare(model.model, {}),
      ElementsAre("FP16 constants made FP32: 1", "activations fused into the operator in front of them: 1",
                  "unused operators, tensors, buffers and operator codes removed: 5"));
  EXPECT_EQ(text_of(model.model), "x -> y\nADD(x, w) fused_activation_function=1 -> y\n");
}

TEST(TflitePrepare, EachPassHasWorkInTheSample) {
  Model model = unprepared_tflite();
  EXPECT_THAT(prepare(model, {.static_int8 = true}), testing::SizeIs(9));
  EXPECT_EQ(text_of(model), "");
}

TEST(TflitePrepare, FormsForIntegersAreForStaticModels) {
  Model integers = unprepared_tflite(), floats = unprepared_tflite();
  prepare(integers, {.static_int8 = true});
  prepare(floats, {});
  EXPECT_THAT(text_of(integers), testing::HasSubstr("MEAN(cut"));
  EXPECT_THAT(text_of(floats), testing::HasSubstr("AVERAGE_POOL_2D(cut"));
}

TEST(TflitePrepare, AnyModelIsPreparedOrLeft) {
  constexpr std::uint64_t kMutants = 1500;
  for (const Model& model : {unprepared_tflite(), everything_tflite()}) {
    const std::string bytes = to_bytes(model);
    std::size_t taken = 0;
    for (std::uint64_t seed = 0; seed < kMutants; ++seed) {
      const std::string mutant = test::mutate_tflite(test::mutate_tflite(bytes, seed), ~seed);
      taken += mutant == bytes ? 0U : 1U;
      ASSERT_NO_THROW(test::check_tflite(mutant)) << "seed " << seed;
    }
    EXPECT_GT(taken, kMutants / 2);
  }
}

TEST(TflitePrepare, AModelThatCannotBeWrittenIsLeftAsItIs) {
  Model model = everything_tflite();
  model.unwritable = "a newer schema";
  Model same = model;
  EXPECT_THAT(prepare(same, {}), IsEmpty());
  EXPECT_TRUE(same_content(same, model));
}

}  // namespace
}  // namespace ounce::tflite
