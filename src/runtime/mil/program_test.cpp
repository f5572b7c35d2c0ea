// Tests small programs: constants, names, states, control flow, and errors.
#include "runtime/mil/program.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include <cmath>
#include <cstring>

#include "formats/coreml/file/values.h"

namespace ounce::mil {
namespace {

using coreml::DataType;
using protobuf::Kept;

// Builds a program without a file.
class Builder {
 public:
  coreml::Model model;
  coreml::Block block;
  coreml::Function function;

  Builder() { function.opset = "CoreML5"; }

  Kept<coreml::NamedType> named(const char* name, DataType type, const std::vector<std::int64_t>& dims) {
    coreml::NamedType named;
    named.name = name;
    named.type = coreml::tensor_type(model, type, dims);
    return Kept(std::move(named));
  }
  void input(const char* name, const std::vector<std::int64_t>& dims) {
    function.inputs.push_back(named(name, DataType::kFloat32, dims));
  }
  void state(const char* name, const std::vector<std::int64_t>& dims) {
    Kept<coreml::NamedType> entry = named(name, DataType::kFloat32, dims);
    entry.edit().type.kind = coreml::ValueType::Kind::kState;
    function.inputs.push_back(std::move(entry));
  }

  static Kept<coreml::Input> bound(const char* name, const std::vector<const char*>& values) {
    coreml::Argument argument;
    for (const char* value : values) {
      coreml::Binding binding;
      binding.name = value;
      argument.bindings.emplace_back(std::move(binding));
    }
    return Kept(coreml::Input{name, Kept(std::move(argument)), {}});
  }
  Kept<coreml::Input> given(const char* name, coreml::Value value) {
    coreml::Argument argument;
    coreml::Binding binding;
    binding.value.emplace_back(std::move(value));
    argument.bindings.emplace_back(std::move(binding));
    return Kept(coreml::Input{name, Kept(std::move(argument)), {}});
  }
  coreml::Value floats(const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    return coreml::tensor_value(
        model, DataType::kFloat32, dims,
        std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  }

  coreml::Operation operation(const char* type, std::vector<Kept<coreml::Input>> inputs, const char* output,
                              DataType result = DataType::kFloat32,
                              const std::vector<std::int64_t>& dims = {2}) {
    coreml::Operation made;
    made.type = type;
    made.inputs = std::move(inputs);
    made.outputs.push_back(named(output, result, dims));
    return made;
  }
  void add(coreml::Operation made) { block.operations.emplace_back(std::move(made)); }
  coreml::Operation constant(const char* name, coreml::Value value) {
    coreml::Operation made = operation("const", {}, name);
    made.attributes.emplace_back(coreml::Attribute{"val", Kept(std::move(value)), {}});
    return made;
  }

  coreml::Model finish(const std::vector<coreml::Bytes>& outputs) {
    block.outputs = outputs;
    function.specializations.emplace_back(coreml::Specialization{"CoreML5", Kept(std::move(block)), {}});
    coreml::Program program;
    program.version = 1;
    program.functions.emplace_back(coreml::NamedFunction{"main", Kept(std::move(function)), {}});
    model.proto.edit().version = 6;
    model.proto.edit().program.emplace_back(std::move(program));
    return std::move(model);
  }
};

data::Tensor tensor(data::Dims dims, const std::vector<float>& values) {
  return {ElementType::kFloat, std::move(dims),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float))};
}

std::vector<float> run(Program& program, const data::Tensor& input) {
  const data::TensorView view = input;
  program.bind({&view, 1});
  program.run();
  const auto values = data::values_of<float>(program.results()[0]);
  return {values.begin(), values.end()};
}

TEST(MilProgram, ConstantsAreEvaluatedOnce) {
  Builder b;
  b.input("x", {2});
  b.add(b.constant("c", b.floats({2}, {1, 2})));
  b.add(b.operation("add", {b.bound("x", {"c"}), b.bound("y", {"c"})}, "twice"));
  b.add(b.operation("mul", {b.bound("x", {"x"}), b.bound("y", {"twice"})}, "y"));
  Program program(b.finish({"y"}), true);
  EXPECT_EQ(program.inputs().at(0).name, "x");
  EXPECT_EQ(program.outputs().at(0).name, "y");
  EXPECT_EQ(run(program, tensor({2}, {3, 5})), (std::vector<float>{6, 20}));
  EXPECT_EQ(run(program, tensor({2}, {1, 1})), (std::vector<float>{2, 4}));
  EXPECT_EQ(program.runs(), 2U);
}

TEST(MilProgram, OutputsAreRoundedToTheirDeclaredType) {
  Builder b;
  b.input("x", {2});
  b.add(b.operation("square", {b.bound("x", {"x"})}, "half", DataType::kFloat16));
  b.add(b.operation("identity", {b.bound("x", {"half"})}, "y"));
  Program program(b.finish({"y"}));
  EXPECT_EQ(run(program, tensor({2}, {1.0009765625F, 300})), (std::vector<float>{1.001953125F, INFINITY}));
}

TEST(MilProgram, StatesKeepTheirValues) {
  Builder b;
  b.input("x", {2});
  b.state("memory", {2});
  b.add(b.operation("read_state", {b.bound("input", {"memory"})}, "old"));
  b.add(b.operation("add", {b.bound("x", {"old"}), b.bound("y", {"x"})}, "sum"));
  b.add(b.operation("coreml_update_state", {b.bound("state", {"memory"}), b.bound("value", {"sum"})}, "y"));
  Program program(b.finish({"y"}));
  EXPECT_EQ(program.inputs().size(), 1U);
  EXPECT_EQ(run(program, tensor({2}, {1, 2})), (std::vector<float>{1, 2}));
  EXPECT_EQ(run(program, tensor({2}, {1, 2})), (std::vector<float>{2, 4}));
}

TEST(MilProgram, ALoopRunsUntilItsConditionIsFalse) {
  Builder b;
  b.input("x", {1});
  coreml::Operation loop =
      b.operation("while_loop", {b.bound("loop_vars", {"x"})}, "y", DataType::kFloat32, {1});
  coreml::Block condition, body;
  condition.inputs.push_back(b.named("a", DataType::kFloat32, {1}));
  condition.operations.emplace_back(b.operation(
      "less", {b.bound("x", {"a"}), b.given("y", b.floats({1}, {100}))}, "goes_on", DataType::kBool, {1}));
  condition.outputs = {"goes_on"};
  body.inputs.push_back(b.named("v", DataType::kFloat32, {1}));
  body.operations.emplace_back(
      b.operation("add", {b.bound("x", {"v"}), b.bound("y", {"v"})}, "doubled", DataType::kFloat32, {1}));
  body.outputs = {"doubled"};
  loop.blocks.emplace_back(std::move(condition));
  loop.blocks.emplace_back(std::move(body));
  b.add(std::move(loop));
  Program program(b.finish({"y"}));
  EXPECT_EQ(run(program, tensor({1}, {3})), (std::vector<float>{192}));
  program.stop();
  EXPECT_THROW(run(program, tensor({1}, {0})), Error);  // an endless loop
}

TEST(MilProgram, UnknownOperationsAreNamedBeforeAnythingRuns) {
  Builder b;
  b.input("x", {2});
  b.add(b.operation("fancy", {b.bound("x", {"x"})}, "y"));
  try {
    Program program(b.finish({"y"}));
    FAIL() << "an unknown operation was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("does not support fancy"), std::string::npos) << error.what();
  }
}

TEST(MilProgram, InputsOfAnotherShapeOrTypeAreRefused) {
  Builder b;
  b.input("x", {2});
  b.add(b.operation("relu", {b.bound("x", {"x"})}, "y"));
  Program program(b.finish({"y"}));
  EXPECT_THROW(run(program, tensor({3}, {1, 2, 3})), Error);
  data::Tensor wrong{ElementType::kInt32, {2}, std::string(8, '\0')};
  const data::TensorView view = wrong;
  EXPECT_THROW(program.bind({&view, 1}), Error);
  EXPECT_THROW(program.bind({}), Error);
}

TEST(MilProgram, AnOperationWithoutItsInputIsNamed) {
  Builder b;
  b.input("x", {2});
  b.add(b.operation("matmul", {b.bound("x", {"x"})}, "y"));
  Program program(b.finish({"y"}));
  try {
    run(program, tensor({2}, {1, 2}));
    FAIL() << "a missing input was not noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_NE(std::string(error.what()).find("input 'y' is missing"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace ounce::mil
