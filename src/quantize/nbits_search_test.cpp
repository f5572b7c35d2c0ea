// The search of a low-bit recipe's open options, with scripted measurements.
#include "quantize/nbits_search.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/temporary_folder.h"

namespace ounce::quantization {
namespace {

using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class Scripted : public CandidateError {
 public:
  explicit Scripted(std::function<double(const Recipe&)> answer) : answer_(std::move(answer)) {}
  double error(const StaticModel&, const Recipe& recipe) override {
    ++measured_;
    return answer_(recipe);
  }
  std::uint64_t samples() const override { return 10; }
  std::size_t measured() const override { return measured_; }

 private:
  std::function<double(const Recipe&)> answer_;
  std::size_t measured_ = 0;
};

struct NbitsSearchTest : testing::Test {
  NbitsSearchTest() {
    ounce::test::ModelBuilder model;
    model.input("x", ounce::test::kFloat, {1, 8}).output("y", ounce::test::kFloat, {1, 8});
    model.node("Relu", {"x"}, {"y"});
    ounce::test::write_file(folder / "model.onnx", model.bytes());
    recipe.format = Format::kNbits4;
    options.recipe = recipe;
    prepared = prepare_model(folder / "model.onnx", options);
  }

  ounce::test::TemporaryFolder folder;
  Recipe recipe;
  QuantizeOptions options;
  std::shared_ptr<const PreparedModel> prepared;
  std::vector<std::string> notes;
  const std::vector<NbitsLayer> layers = {{{"a"}, 100}, {{"b"}, 100}, {{"c", "d"}, 400}};
};

TEST_F(NbitsSearchTest, AMethodThatCostsMoreHasToBringMore) {
  const auto chosen = [&](double rtn, double scale, double gptq) {
    Scripted meter([=](const Recipe& tried) {
      const WeightMethod method = tried.nbits.method;
      return method == WeightMethod::kRtn ? rtn : method == WeightMethod::kScale ? scale : gptq;
    });
    choose_method(meter, *prepared, recipe, notes);
    return recipe.nbits.method;
  };
  EXPECT_EQ(chosen(0.01, 0.009, 0.005), WeightMethod::kGptq);
  EXPECT_EQ(chosen(0.01, 0.009, 0.0089), WeightMethod::kScale);
  EXPECT_EQ(chosen(0.01, 0.0099, 0.02), WeightMethod::kRtn);
  EXPECT_EQ(notes.front(), "method gptq: on 10 held-out samples rtn 20.0 dB, scale 20.5 dB, gptq 23.0 dB");
}

TEST_F(NbitsSearchTest, BitsGoWhereAWeightBringsTheMost) {
  const std::map<std::string, double> noise = {{"a", 0.01}, {"b", 0.001}, {"c", 0.02}};
  Scripted meter([&](const Recipe& tried) {
    double sum = 0.0001;
    for (const auto& [node, error] : noise) sum += tried.nodes.contains(node) ? 0 : error;
    return sum;
  });
  const auto size_of = [](const Recipe& tried) {
    const double bits = 4.5 + (tried.nodes.contains("a") ? 0.6 : 0) + (tried.nodes.contains("b") ? 0.6 : 0) +
                        (tried.nodes.contains("c") ? 2.4 : 0);
    return ModelSize{bits, static_cast<std::uint64_t>(100 * bits)};
  };
  const Importance importance = measure_importance(meter, *prepared, layers, recipe);
  EXPECT_DOUBLE_EQ(importance.layers.at("c").gain, 0.02);
  const Recipe plain = recipe;
  recipe.nbits.bits = 5.2;
  spend_bits(importance, layers, size_of, recipe, notes);
  EXPECT_THAT(recipe.nodes, ElementsAre(Pair("a", Format::kNbits8)));
  EXPECT_EQ(notes.front(), "1 of 3 layers are nbits8: 5.1 bits per weight");

  EXPECT_FALSE(recipe.nbits.has_budget());  // spent
  recipe.nbits.bits = 4;
  EXPECT_THAT(error_of([&] { spend_bits(importance, layers, size_of, recipe, notes); }).what(),
              HasSubstr("`nbits.bits` 4: nbits4 already takes 5.1 bits per weight"));

  recipe = plain;
  recipe.nbits.target_size = 760;
  spend_bits(importance, layers, size_of, recipe, notes);
  EXPECT_THAT(recipe.nodes, ElementsAre(Pair("a", Format::kNbits8), Pair("c", Format::kNbits8),
                                        Pair("d", Format::kNbits8)));
  recipe.nbits.target_size = 700;
  EXPECT_THAT(error_of([&] { spend_bits(importance, layers, size_of, recipe, notes); }).what(),
              HasSubstr("`nbits.target_size` 700: nbits4 already takes 750 bytes"));

  const std::vector<NbitsLayer> others = {{{"z"}, 100}};
  EXPECT_THAT(error_of([&] { spend_bits(importance, others, size_of, recipe = plain, notes); }).what(),
              HasSubstr("belongs to another model"));
}

TEST_F(NbitsSearchTest, ImportanceIsKeptAndMerged) {
  Importance one{Format::kNbits4, 10, 0.5, {{"a", {100, 0.1}}, {"b", {50, 0.3}}}};
  Importance two = one;
  two.samples = 30;
  two.error = 0.1;
  two.layers["a"].gain = 0.2;
  write_importance(two, folder / "two.json");
  const Importance read = read_importance(folder / "two.json");
  EXPECT_EQ(read.samples, 30U);
  EXPECT_EQ(read.layers.at("a").gain, 0.2);
  const std::vector<Importance> both = {one, read};
  const Importance sum = merged(both);
  EXPECT_EQ(sum.samples, 40U);
  EXPECT_DOUBLE_EQ(sum.error, 0.2);
  EXPECT_DOUBLE_EQ(sum.layers.at("a").gain, 0.175);
  EXPECT_DOUBLE_EQ(sum.layers.at("b").gain, 0.3);

  one.layers["a"].weights = 7;
  EXPECT_THAT(error_of([&] {
                merged(std::vector<Importance>{one, two});
              }).what(),
              HasSubstr("different models"));
  EXPECT_THAT(error_of([&] { write_importance(one, folder / "model.onnx"); }).what(),
              HasSubstr("is not an importance file"));
  EXPECT_THAT(error_of([&] { read_importance(folder / "model.onnx"); }).what(), HasSubstr("is not JSON"));
}

TEST_F(NbitsSearchTest, ProductsThatDoNotBearItKeepTheirActivations) {
  const auto meter_with = [](double of_c) {
    return Scripted([=](const Recipe& tried) {
      const auto fast = [&](const char* node) {
        return tried.nbits.accuracy_level == AccuracyLevel::k4 && !tried.nbits.levels.contains(node);
      };
      return 0.01 + (fast("a") ? 0.0001 : 0) + (fast("c") ? of_c : 0);
    });
  };
  Scripted harmless = meter_with(0.0001);
  choose_levels(harmless, *prepared, layers, recipe, notes);
  EXPECT_EQ(recipe.nbits.accuracy_level, AccuracyLevel::k4);
  EXPECT_TRUE(recipe.nbits.levels.empty());
  EXPECT_EQ(harmless.measured(), 2U);

  Scripted one = meter_with(0.02);
  choose_levels(one, *prepared, layers, recipe, notes);
  EXPECT_THAT(recipe.nbits.levels, ElementsAre(Pair("c", AccuracyLevel::k1), Pair("d", AccuracyLevel::k1)));
  EXPECT_EQ(notes.back(),
            "activations of 1 of 3 products are kept in FP32 (accuracy level 1), the others are INT8");
}

TEST_F(NbitsSearchTest, WhatLooksAtDataSaysSo) {
  recipe.nbits.method = WeightMethod::kGptq;
  EXPECT_EQ(error_of([&] { search_nbits(folder / "model.onnx", options, *prepared, recipe, notes); }).what(),
            std::string("`nbits.method=gptq` needs data: give `data`"));
  recipe.nbits.method = WeightMethod::kAuto;
  search_nbits(folder / "model.onnx", options, *prepared, recipe, notes);
  EXPECT_EQ(recipe.nbits.method, WeightMethod::kRtn);
  EXPECT_EQ(recipe.nbits.accuracy_level, AccuracyLevel::k4);
}

}  // namespace
}  // namespace ounce::quantization
