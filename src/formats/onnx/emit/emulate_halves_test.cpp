#include "formats/onnx/emit/half_graph.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "kernels/half.h"
#include "runtime/ort/session.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"

namespace ounce::passes {
namespace {

using data::test::numbers_of;
using data::test::tensor_of;
using ounce::test::field;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kBfloat16;
using ounce::test::kBool;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;
using ounce::test::tensor;
using ounce::test::tensor_attribute;
using test::text_of;
using testing::ElementsAre;

using Floats = std::vector<float>;
using Codes = std::vector<std::uint16_t>;

Codes codes_of(const Floats& values) {
  Codes codes(values.size());
  kernels::HalfStats stats;
  kernels::f32_to_bf16(reinterpret_cast<const std::byte*>(values.data()), values.size(), codes.data(), stats);
  return codes;
}

Floats widened(const Codes& codes) {
  Floats values(codes.size());
  kernels::bf16_to_f32(reinterpret_cast<const std::byte*>(codes.data()), codes.size(), values.data());
  return values;
}

Floats rounded(const Floats& values) { return widened(codes_of(values)); }

std::string half_tensor(const std::string& name, const ounce::test::Dims& dims, const Floats& values) {
  const Codes codes = codes_of(values);
  return tensor(name, kBfloat16, dims,
                std::string(reinterpret_cast<const char*>(codes.data()), 2 * codes.size()));
}

ModelBuilder one_in_one_out(const ounce::test::Dims& dims) {
  ModelBuilder model;
  model.input("x", kBfloat16, dims).output("y", kBfloat16, dims);
  return model;
}

onnx::Model emulated(const std::string& bytes) {
  onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  emulate_halves(model, ElementType::kBfloat16);
  return model;
}

void write(const onnx::Model& model, const std::filesystem::path& path) {
  ThreadPool pool(1);
  onnx::ModelOutput output(model, path, {});
  output.write(pool, nullptr);
  graph::validate(output.reopen());
  output.commit();
}

// Calls check(outputs) with the outputs of every runtime version at every optimization level.
template <class Check>
void run_everywhere(const std::string& bytes, const std::vector<runtime::NamedTensor>& inputs, Check check) {
  const ounce::test::TemporaryFolder folder;
  write(emulated(bytes), folder / "model.onnx");
  for (const auto& library : runtime::Library::installed()) {
    using runtime::Optimization;
    for (const auto level :
         {Optimization::kNone, Optimization::kBasic, Optimization::kExtended, Optimization::kAll}) {
      SCOPED_TRACE(library.string() + " at level " + std::to_string(static_cast<int>(level)));
      runtime::SessionOptions options;
      options.optimization = level;
      const runtime::Session session(runtime::Library::open(library), folder / "model.onnx", options);
      check(session.run(inputs));
    }
  }
}

runtime::NamedTensor half_input(const ounce::test::Dims& dims, const Floats& values) {
  return {"x", tensor_of<std::uint16_t>(dims, codes_of(values), ElementType::kBfloat16)};
}

void expect_output(const std::string& bytes, const std::vector<runtime::NamedTensor>& inputs,
                   const Floats& wanted) {
  run_everywhere(bytes, inputs, [&](const std::vector<data::Tensor>& outputs) {
    EXPECT_EQ(outputs[0].type, ElementType::kBfloat16);
    EXPECT_EQ(widened(numbers_of<std::uint16_t>(outputs[0])), wanted);
  });
}

// The square of 1 + 2⁻⁷ is not representable in bfloat16. The lost part shows if a value is not rounded.
constexpr float kFine = 1 + 0x1p-7F;
constexpr float kSquare = 1 + 0x1p-6F;

TEST(EmulateHalves, CastsAroundEveryNode) {
  ModelBuilder model = one_in_one_out({2});
  model.initializer(half_tensor("w", {2}, {1, 2}));
  model.node("Mul", {"x", "w"}, {"h"}).node("Sub", {"h", "x"}, {"d"}).node("Add", {"d", "h"}, {"y"});
  EXPECT_EQ(text_of(emulated(model.bytes())),
            "w = bfloat16[2]\n"
            "Cast(x){to=1} -> v3\n"
            "Cast(w){to=1} -> v4\n"
            "Mul(v3, v4) -> v0\n"
            "Cast(v0){to=16} -> h\n"
            "Cast(h){to=1} -> v5\n"
            "Sub(v5, v3) -> v1\n"
            "Cast(v1){to=16} -> d\n"
            "Cast(d){to=1} -> v6\n"
            "Add(v6, v5) -> v2\n"
            "Cast(v2){to=16} -> y\n");
}

TEST(EmulateHalves, LeavesOtherModelsAlone) {
  ModelBuilder model;
  model.input("x", kFloat, {2}).output("y", kFloat, {2}).node("Relu", {"x"}, {"y"});
  EXPECT_FALSE(emulated(model.bytes()).proto.is_edited());
}

TEST(EmulateHalves, RoundsBetweenNodes) {
  ModelBuilder model = one_in_one_out({2});
  model.initializer(half_tensor("s", {2}, {kSquare, kSquare}));
  model.node("Mul", {"x", "x"}, {"h"}).node("Sub", {"h", "s"}, {"y"});
  expect_output(model.bytes(), {half_input({2}, {kFine, -kFine})}, {0, 0});
}

// Runtimes might remove one of two consecutive Casts as redundant.
TEST(EmulateHalves, RoundsWhatWasCastFromOtherTypes) {
  for (const int other : {4, 5, 6, 7, 10, 11}) {  // uint16, int16, int32, int64, float16, double
    SCOPED_TRACE(other);
    ModelBuilder model;
    model.input("x", kFloat, {2}).output("y", kFloat, {2});
    model.node("Cast", {"x"}, {"o"}, {int_attribute("to", other)});
    model.node("Cast", {"o"}, {"h"}, {int_attribute("to", kBfloat16)});
    model.node("Neg", {"h"}, {"n"}).node("Cast", {"n"}, {"y"}, {int_attribute("to", kFloat)});
    run_everywhere(model.bytes(), {{"x", tensor_of<float>({2}, {1001, 257})}}, [](const auto& outputs) {
      EXPECT_THAT(numbers_of<float>(outputs[0]), ElementsAre(-1000, -256));
    });
  }
}

// The expected results: computed in double precision, rounded at each value of the model.
constexpr std::size_t kRows = 3, kColumns = 8;

Floats times(const Floats& a, const Floats& b) {
  Floats product(kRows * kColumns);
  for (std::size_t i = 0; i < product.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < kColumns; ++k)
      sum += double{a[i / kColumns * kColumns + k]} * double{b[k * kColumns + i % kColumns]};
    product[i] = static_cast<float>(sum);
  }
  return rounded(product);
}

Floats softmax(Floats values) {
  for (std::size_t row = 0; row < kRows; ++row) {
    float* at = values.data() + row * kColumns;
    double sum = 0;
    for (std::size_t i = 0; i < kColumns; ++i) sum += std::exp(double{at[i]});
    for (std::size_t i = 0; i < kColumns; ++i) at[i] = static_cast<float>(std::exp(double{at[i]}) / sum);
  }
  return rounded(values);
}

Floats normalized(Floats values, const Floats& scale) {
  for (std::size_t row = 0; row < kRows; ++row) {
    float* at = values.data() + row * kColumns;
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < kColumns; ++i) mean += double{at[i]} / kColumns;
    for (std::size_t i = 0; i < kColumns; ++i) variance += std::pow(double{at[i]} - mean, 2) / kColumns;
    for (std::size_t i = 0; i < kColumns; ++i)
      at[i] = static_cast<float>((double{at[i]} - mean) / std::sqrt(variance + 1e-5) * double{scale[i]});
  }
  return rounded(values);
}

// Another order of summation may round differently, and later nodes may turn this into a difference of one
// step.
TEST(EmulateHalves, ComputesWhatBfloat16Is) {
  const auto x = rounded(test::noise({kRows, kColumns}, 1)),
             w = rounded(test::noise({kColumns, kColumns}, 2)), scale = rounded(test::noise({kColumns}, 3));
  ModelBuilder model = one_in_one_out({kRows, kColumns});
  model.initializer(half_tensor("w", {kColumns, kColumns}, w))
      .initializer(half_tensor("s", {kColumns}, scale));
  model.node("MatMul", {"x", "w"}, {"h"}).node("Softmax", {"h"}, {"p"});
  model.node("LayerNormalization", {"p", "s"}, {"y"}, {int_attribute("stash_type", kBfloat16)});
  const Codes wanted = codes_of(normalized(softmax(times(x, w)), scale));
  run_everywhere(model.bytes(), {half_input({kRows, kColumns}, x)}, [&](const auto& outputs) {
    const Codes codes = numbers_of<std::uint16_t>(outputs[0]);
    ASSERT_EQ(codes.size(), wanted.size());
    for (std::size_t i = 0; i < codes.size(); ++i) EXPECT_LE(std::abs(codes[i] - wanted[i]), 1) << i;
  });
}

// The value of the main graph is widened there, once for both branches.
TEST(EmulateHalves, FollowsValuesIntoBranches) {
  const auto branch = [](const std::string& op) {
    GraphBuilder graph;
    graph.output("e", kBfloat16, {2}).node(op, {"h", "h"}, {"e"});
    return graph.bytes();
  };
  ModelBuilder model = one_in_one_out({2});
  model.input("which", kBool, {}).node("Mul", {"x", "x"}, {"h"});
  model.node("If", {"which"}, {"i"},
             {graph_attribute("then_branch", branch("Add")), graph_attribute("else_branch", branch("Sub"))});
  model.node("Neg", {"i"}, {"y"});
  EXPECT_EQ(text_of(emulated(model.bytes())),
            "Cast(x){to=1} -> v4\n"
            "Mul(v4, v4) -> v0\n"
            "Cast(v0){to=16} -> h\n"
            "Cast(h){to=1} -> v6\n"
            "If(which) -> i\n"
            "  then_branch:\n"
            "    Add(v6, v6) -> v2\n"
            "    Cast(v2){to=16} -> e\n"
            "  else_branch:\n"
            "    Sub(v6, v6) -> v3\n"
            "    Cast(v3){to=16} -> e\n"
            "Cast(i){to=1} -> v5\n"
            "Neg(v5) -> v1\n"
            "Cast(v1){to=16} -> y\n");
  const runtime::NamedTensor then{"which", {ElementType::kBool, {}, "\1", {}}};
  expect_output(model.bytes(), {half_input({2}, {kFine, 1}), then}, {-2 * kSquare, -2});
}

TEST(EmulateHalves, KeepsTheStateOfLoops) {
  GraphBuilder body;
  body.input("i", kInt64, {}).input("go_on", kBool, {}).input("s", kBfloat16, {2});
  body.output("go_on_too", kBool, {}).output("t", kBfloat16, {2}).output("u", kBfloat16, {2});
  body.node("Identity", {"go_on"}, {"go_on_too"}).node("Mul", {"s", "x"}, {"t"}).node("Abs", {"t"}, {"u"});
  ModelBuilder model = one_in_one_out({2});
  model.initializer(tensor("times", kInt64, {}, std::string("\3\0\0\0\0\0\0\0", 8)));
  model.node("Loop", {"times", "", "x"}, {"y", "all"}, {graph_attribute("body", body.bytes())});
  const float once = kSquare, twice = rounded({once * kFine})[0], thrice = rounded({twice * kFine})[0];
  expect_output(model.bytes(), {half_input({2}, {kFine, -2})}, {thrice, 16});
}

TEST(EmulateHalves, TreatsFunctionsInside) {
  const std::string imports = field(1, std::string()) + field(2, std::int64_t{17});
  ModelBuilder model = one_in_one_out({2});
  model.add_to_model(8, field(1, std::string("own")) + field(2, std::int64_t{1}));
  model.add_to_model(25, field(1, std::string("Square")) + field(10, std::string("own")) +
                             field(4, std::string("a")) + field(5, std::string("b")) +
                             field(7, ounce::test::node("Mul", {"a", "a"}, {"b"})) + field(9, imports));
  model.add(1, ounce::test::node("Square", {"x"}, {"h"}, {}, {}, "own"));
  model.add(1, ounce::test::node("Square", {"h"}, {"y"}, {}, {}, "own"));
  EXPECT_EQ(text_of(emulated(model.bytes())),
            "Square(x) -> h\n"
            "Square(h) -> y\n"
            "function Square:\n"
            "  Cast(a){to=1} -> v1\n"
            "  Mul(v1, v1) -> v0\n"
            "  Cast(v0){to=16} -> b\n");
  expect_output(model.bytes(), {half_input({2}, {kFine, 2})}, {rounded({kSquare * kSquare})[0], 16});
}

TEST(EmulateHalves, ChangesWhatNodesSayOfTheirTypes) {
  ModelBuilder model = one_in_one_out({2, 2});
  model.initializer(test::ints_tensor("shape", {2, 2}));
  model.node("ConstantOfShape", {"shape"}, {"c"}, {tensor_attribute("value", half_tensor("", {1}, {3}))});
  model.node("EyeLike", {"shape_2d"}, {"e"}, {int_attribute("dtype", kBfloat16)});
  model.initializer("shape_2d", {2, 2}, {0, 0, 0, 0});
  model.node("Constant", {}, {"k"}, {tensor_attribute("value", half_tensor("", {}, {2}))});
  model.node("Add", {"c", "e"}, {"d"}).node("Mul", {"d", "k"}, {"m"}).node("Add", {"m", "x"}, {"y"});
  expect_output(model.bytes(), {half_input({2, 2}, {0, 0, 0, 1})}, {8, 6, 6, 9});
}

TEST(EmulateHalves, LeavesOptionalInputsOut) {
  ModelBuilder model = one_in_one_out({2});
  model.initializer(half_tensor("most", {}, {1})).node("Clip", {"x", "", "most"}, {"y"});
  expect_output(model.bytes(), {half_input({2}, {-3, 3})}, {-3, 1});
}

}  // namespace
}  // namespace ounce::passes
