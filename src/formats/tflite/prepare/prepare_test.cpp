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
  EXPECT_EQ(text_of(model),
            "x, image -> positive, y\n"
            "RESHAPE(x, layout_1_1_3_4) -> x_reshaped\n"
            "TRANSPOSE(x_reshaped, layout_0_1_3_2) -> a_t\n"
            "CONV_2D(a_t, a_m_weight, a_m_bias) stride_w=1 stride_h=1 fused_activation_function=3 -> a_a\n"
            "CONV_2D(a_a, b_m_weight, b_m_bias) stride_w=1 stride_h=1 fused_activation_function=3 -> b_a\n"
            "ADD(a_a, b_a) -> sum\n"
            "MUL(sum, divisor_inverse) -> half_moved\n"
            "RESHAPE(half_moved, layout_1_4_3) -> half_moved_reshaped\n"
            "TRANSPOSE(half_moved_reshaped, layout_0_2_1) -> half\n"
            "FULLY_CONNECTED.5(half, matrix_transposed, biased_bias) fused_activation_function=1 "
            "keep_num_dims=1 -> biased\n"
            "RESHAPE(biased, layout_3_2) -> positive\n"
            "TRANSPOSE_CONV(cut_shape, kernel, image) stride_w=2 stride_h=2 -> cut\n"
            "MEAN(cut, pool_axes) keep_dims=1 -> pool\n"
            "LEAKY_RELU(pool) alpha=0.5 -> y\n");
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
