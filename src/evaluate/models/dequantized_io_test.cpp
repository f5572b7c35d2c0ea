#include "evaluate/models/open.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cmath>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/view/onnx_file.h"
#include "support/error_of.h"
#include "support/integer_runs.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

using data::Tensor;
using data::TensorView;
using data::test::described;
using data::test::numbers_of;
using data::test::tensor_of;
using model::QuantizedPort;
using onnx::quantized_ports_of;
using ounce::test::Dims;
using ounce::test::error_of;
using ounce::test::field;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using passes::test::noise;
using passes::test::Rewritten;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Returns its input, under another name.
class Echo final : public runtime::Executor {
 public:
  Echo(ElementType type, const Dims& dims)
      : inputs_{described("x", type, dims)}, outputs_{described("y", type, dims)} {}
  const std::vector<data::ValueDescription>& inputs() const override { return inputs_; }
  const std::vector<data::ValueDescription>& outputs() const override { return outputs_; }
  const std::string& library_version() const override { return version_; }
  std::span<const TensorView> run(std::span<const TensorView> inputs) override {
    kept = data::copy_of(inputs[0]);
    view_ = kept;
    return {&view_, 1};
  }

  Tensor kept;

 private:
  std::vector<data::ValueDescription> inputs_, outputs_;
  std::string version_ = "1.0.0";
  TensorView view_;
};

// The quantized values of these floats, and the floats that they are dequantized to.
template <class Code>
struct RoundTrip {
  std::vector<Code> codes;
  std::vector<float> floats;

  RoundTrip(const Dims& dims, const std::vector<float>& values, const std::vector<float>& scales,
            const std::vector<float>& zeros) {
    const ElementType type = data::test::type_of<Code>();
    auto echo = std::make_unique<Echo>(type, dims);
    const Echo& inside = *echo;
    const auto model = with_dequantized_io(
        std::move(echo), {{"x", true, type, scales, zeros}, {"y", false, type, scales, zeros}});
    EXPECT_EQ(model->inputs()[0].element, ElementType::kFloat);
    EXPECT_EQ(model->outputs()[0].element, ElementType::kFloat);
    EXPECT_EQ(model->library_version(), "1.0.0");
    const Tensor given = tensor_of<float>(dims, values);
    const TensorView view = given;
    const auto results = model->run({&view, 1});
    EXPECT_EQ(results[0].type, ElementType::kFloat);
    EXPECT_EQ(results[0].dims, dims);
    EXPECT_EQ(inside.kept.type, type);
    EXPECT_EQ(inside.kept.dims, dims);
    codes = numbers_of<Code>(inside.kept);
    floats = numbers_of<float>(results[0]);
  }
};

TEST(FloatPorts, CodesGoInAndComeOut) {
  const RoundTrip<std::uint8_t> plain({1, 6}, {-1, 0, 0.24F, 1, 100, -100}, {0.5F}, {10});
  EXPECT_THAT(plain.codes, ElementsAre(8, 10, 10, 12, 210, 0));
  EXPECT_THAT(plain.floats, ElementsAre(-1, 0, 0, 1, 100, -5));
  const RoundTrip<std::int8_t> narrow({3}, {-64, 0.75F, 64}, {0.5F}, {-1});
  EXPECT_THAT(narrow.codes, ElementsAre(-128, 0, 127));  // 0.5 is rounded to even
  const RoundTrip<std::uint16_t> wide({2}, {1000, -1000}, {0.25F}, {32768});
  EXPECT_THAT(wide.codes, ElementsAre(36768, 28768));
  EXPECT_THAT(wide.floats, ElementsAre(1000, -1000));
  const RoundTrip<std::int16_t> wide_signed({2}, {1e9F, -1e9F}, {0.25F}, {0});
  EXPECT_THAT(wide_signed.codes, ElementsAre(32767, -32768));
}

TEST(FloatPorts, ChannelsOfTheSecondAxisHaveTheirOwnScales) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const RoundTrip<std::uint8_t> images({2, 2, 1, 2}, values, {1, 0.5F}, {0, 100});
  EXPECT_THAT(images.codes, ElementsAre(1, 2, 106, 108, 5, 6, 114, 116));
  EXPECT_EQ(images.floats, values);
  const RoundTrip<std::uint8_t> rows({2, 2}, {1, 2, 3, 4}, {1, 0.5F}, {0, 100});
  EXPECT_THAT(rows.codes, ElementsAre(1, 104, 3, 108));
}

TEST(FloatPorts, NothingAtAllIsCodedToo) {
  const RoundTrip<std::uint8_t> nothing({0, 2, 4, 4}, {}, {1, 0.5F}, {0, 100});
  EXPECT_THAT(nothing.codes, IsEmpty());
  EXPECT_THAT(nothing.floats, IsEmpty());
}

// NaN has no quantized value, but must not cause undefined behavior.
TEST(FloatPorts, NotANumberBecomesSomeCode) {
  const RoundTrip<std::uint8_t> coded({3}, {NAN, INFINITY, -INFINITY}, {0.5F}, {10});
  EXPECT_EQ(coded.codes[1], 255);
  EXPECT_EQ(coded.codes[2], 0);
}

TEST(FloatPorts, OnlyPortsThatTheModelHasAreTaken) {
  auto echo = std::make_unique<Echo>(ElementType::kUint8, Dims{2});
  const runtime::Executor* const inside = echo.get();
  auto same = with_dequantized_io(std::move(echo), {});
  EXPECT_EQ(same.get(), inside);
  const auto model = with_dequantized_io(std::move(same), {{"y", true, ElementType::kUint8, {1}, {0}},
                                                           {"x", false, ElementType::kUint8, {1}, {0}},
                                                           {"x", true, ElementType::kInt8, {1}, {0}}});
  EXPECT_EQ(model->inputs()[0].element, ElementType::kUint8);
  EXPECT_EQ(model->outputs()[0].element, ElementType::kUint8);
  const Tensor given = tensor_of<std::uint8_t>({2}, {3, 4});
  const TensorView view = given;
  EXPECT_THAT(numbers_of<std::uint8_t>(model->run({&view, 1})[0]), ElementsAre(3, 4));
}

// A model with this metadata about its inputs and outputs.
onnx::Model with_metadata(const std::string& text) {
  ModelBuilder model;
  model.input("x", kFloat, {1}).output("y", kFloat, {1}).node("Relu", {"x"}, {"y"});
  model.add_to_model(14, field(1, std::string(onnx::kPortsKey)) + field(2, text));
  return onnx::read_model_from_memory(model.bytes(), "model");
}

std::string of_x(const std::string& entry) { return R"({"inputs": {"x": )" + entry + R"(}, "outputs": {}})"; }

TEST(FloatPorts, MetadataSaysWhatPortsStandFor) {
  const auto ports = quantized_ports_of(with_metadata(
      R"({"inputs": {"x": {"type": "uint8", "scale": [0.5, 0.25], "zero_point": [1, 2.5], "raw": true}},
          "outputs": {"y": {"type": "int16", "scale": [2], "zero_point": [-3], "raw": false}}})"));
  ASSERT_THAT(ports, SizeIs(2));
  EXPECT_EQ(ports[0].name, "x");
  EXPECT_TRUE(ports[0].is_input);
  EXPECT_EQ(ports[0].type, ElementType::kUint8);
  EXPECT_THAT(ports[0].scales, ElementsAre(0.5F, 0.25F));
  EXPECT_THAT(ports[0].zeros, ElementsAre(1, 2.5F));
  EXPECT_EQ(ports[1].name, "y");
  EXPECT_FALSE(ports[1].is_input);
  EXPECT_EQ(ports[1].type, ElementType::kInt16);
  EXPECT_THAT(ports[1].zeros, ElementsAre(-3));
}

TEST(FloatPorts, MetadataThatMakesNoSenseIsRefused) {
  const std::vector<std::string> broken = {
      "",
      "{",
      "[]",
      "null",
      R"({"inputs": {}})",
      R"({"inputs": [], "outputs": {}})",
      of_x("[]"),
      of_x("{}"),
      of_x(R"({"type": "uint8", "scale": [1]})"),
      of_x(R"({"type": "uint8", "scale": 1, "zero_point": 0})"),
      of_x(R"({"type": "uint8", "scale": [], "zero_point": []})"),
      of_x(R"({"type": "uint8", "scale": [1, 2], "zero_point": [0]})"),
      of_x(R"({"type": "uint8", "scale": ["1"], "zero_point": [0]})"),
      of_x(R"({"type": "float32", "scale": [1], "zero_point": [0]})"),
      of_x(R"({"type": 2, "scale": [1], "zero_point": [0]})"),
      of_x(R"({"type": "uint8", "scale": [1e999], "zero_point": [0]})"),
      std::string(100000, '['),
  };
  for (const std::string& text : broken) {
    SCOPED_TRACE(text.substr(0, 200));
    const Error error = error_of([&] { quantized_ports_of(with_metadata(text)); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("ounce.io"));
  }
}

// Values are divided by the scale.
TEST(FloatPorts, AScaleThatNobodyCanDivideByIsRefused) {
  for (const char* scale : {"0", "-0.0", "1e-60", "1e300"}) {
    const std::string text =
        of_x(std::string(R"({"type": "uint8", "scale": [)") + scale + R"(], "zero_point": [0]})");
    EXPECT_EQ(error_of([&] { quantized_ports_of(with_metadata(text)); }).code(), ErrorCode::kBadInput)
        << scale;
  }
}

// x [1, 3, 8, 8] ─ Conv ─ y; x is also the input of a Conv in a branch.
ModelBuilder network() {
  GraphBuilder then_branch, else_branch;
  then_branch.output("t", kFloat, {1, 2, 8, 8});
  then_branch.initializer("u", {2, 3, 1, 1}, noise({2, 3, 1, 1}, 2)).node("Conv", {"x", "u"}, {"t"});
  else_branch.output("e", kFloat, {1, 2, 8, 8});
  else_branch.initializer("u", {2, 3, 1, 1}, noise({2, 3, 1, 1}, 3)).node("Conv", {"x", "u"}, {"e"});
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 8, 8}).input("c", 9, {});
  model.output("y", kFloat, {1, 4, 8, 8}).output("z", kFloat, {1, 2, 8, 8});
  model.initializer("w", {4, 3, 1, 1}, noise({4, 3, 1, 1})).initializer("b", {4}, noise({4}, 4));
  model.node("Conv", {"x", "w", "b"}, {"y"});
  model.node("If", {"c"}, {"z"},
             {graph_attribute("then_branch", then_branch.bytes()),
              graph_attribute("else_branch", else_branch.bytes())});
  return model;
}

Recipe integer_io(Dialect dialect, const std::vector<double>& scales = {},
                  const std::vector<double>& offsets = {}) {
  Recipe recipe = passes::test::integer_recipe(Format::kInt8);
  recipe.integer.dialect = dialect;
  recipe.integer.integer_io = true;
  if (!scales.empty()) recipe.integer.raw_inputs["x"] = {scales, offsets};
  return recipe;
}

// The lowest SQNR over all versions of the runtime, compared with the original.
double least_sqnr(const std::string& before, const onnx::Model& after) {
  const ounce::test::TemporaryFolder folder;
  ounce::test::write_file(folder / "before.onnx", before);
  passes::test::write(after, folder / "after.onnx");
  double least = HUGE_VAL;
  for (const auto& path : runtime::Library::installed()) {
    const runtime::Session session(runtime::Library::open(path), folder / "before.onnx", {});
    runtime::ExecutorOptions options;
    options.library = path.string();
    const auto floats = load_as_floats(folder / "before.onnx", options);
    const auto integers = load_as_floats(folder / "after.onnx", options);
    for (std::size_t i = 0; i < floats->inputs().size(); ++i)
      EXPECT_EQ(floats->inputs()[i].element, integers->inputs()[i].element);
    for (std::uint32_t seed = 0; seed < passes::test::kSamples; ++seed) {
      const auto sample = passes::test::sample_for(session, seed);
      std::vector<TensorView> views;
      for (const auto& input : sample) views.emplace_back(input.tensor);
      const auto a = floats->run(views), b = integers->run(views);
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].type, b[i].type);
        EXPECT_EQ(a[i].dims, b[i].dims);
        if (a[i].dims != b[i].dims) return -1;
        least = std::min(least, passes::test::sqnr_db(numbers_of<float>(a[i]), numbers_of<float>(b[i])));
      }
    }
  }
  return least;
}

const std::vector<double> kScales = {0.009, 0.010, 0.011}, kOffsets = {-1.1, -1.2, -1.3};

TEST(FloatPorts, AModelOfIntegersRunsAsIfItTookFloats) {
  const std::string bytes = network().bytes();
  for (const Dialect dialect : {Dialect::kQdq, Dialect::kQOperator}) {
    const Rewritten codes(bytes, integer_io(dialect));
    EXPECT_THAT(quantized_ports_of(codes.model()), SizeIs(2));
    EXPECT_GE(least_sqnr(bytes, codes.model()), 30);
    const Rewritten raw(bytes, integer_io(dialect, {0.01}, {-1.2}));
    EXPECT_GE(least_sqnr(bytes, raw.model()), 30);
    const auto ports = quantized_ports_of(raw.model());
    ASSERT_THAT(ports, SizeIs(2));
    EXPECT_THAT(ports[0].scales, ElementsAre(FloatEq(0.01F)));
    EXPECT_THAT(ports[0].zeros, ElementsAre(120));
  }
}

TEST(FloatPorts, RawBytesOfChannelsAreMadeFloatsInTheModel) {
  const std::string bytes = network().bytes();
  for (const Dialect dialect : {Dialect::kQdq, Dialect::kQOperator}) {
    const Rewritten raw(bytes, integer_io(dialect, kScales, kOffsets));
    const auto ports = quantized_ports_of(raw.model());
    ASSERT_THAT(ports, SizeIs(2));
    EXPECT_EQ(ports[0].type, ElementType::kUint8);
    EXPECT_THAT(ports[0].scales, ElementsAre(0.009F, 0.010F, 0.011F));
    EXPECT_GE(least_sqnr(bytes, raw.model()), 30);
  }
  Recipe is_signed = integer_io(Dialect::kQdq, {0.01}, {-1.2});
  is_signed.integer.activations = ActivationType::kS8;
  const Rewritten raw(bytes, is_signed);
  EXPECT_EQ(quantized_ports_of(raw.model())[0].type, ElementType::kUint8);
  EXPECT_GE(least_sqnr(bytes, raw.model()), 30);
}

// Channels are the second axis of inputs with any number of axes.
TEST(FloatPorts, RawBytesOfChannelsNeedNotBeImages) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3, 16}).output("y", kFloat, {2, 4, 16});
  model.initializer("w", {4, 3, 1}, noise({4, 3, 1})).node("Conv", {"x", "w"}, {"y"});
  const std::string bytes = model.bytes();
  const Rewritten raw(bytes, integer_io(Dialect::kQdq, kScales, kOffsets));
  EXPECT_GE(least_sqnr(bytes, raw.model()), 30);
}

}  // namespace
}  // namespace ounce::evaluate
