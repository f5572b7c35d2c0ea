
#include <gmock/gmock.h>
#include <ounce/app.hpp>
#include <sys/stat.h>

#include "app/unpacked_file.h"
#include "runtime/ort/bound_run.h"
#include "runtime/ort/ort_format.h"
#include "support/app_models.h"
#include "support/runtime_versions.h"

namespace ounce::app {
namespace {

// y [1, 64] = relu(… relu(x · w0) · w1 …) with weights of 16 kB each.
std::filesystem::path chain_of_weights(const test::TemporaryFolder& folder) {
  test::ModelBuilder model(13, 7);
  model.input("x", test::kFloat, {1, 64}).output("y5", test::kFloat, {1, 64});
  for (int layer = 0; layer < 6; ++layer) {
    std::vector<float> weights;
    for (int i = 0; i < 64 * 64; ++i) weights.push_back(static_cast<float>((i * 31 + layer) % 61 - 30) / 256);
    // Names of different lengths, so that the weights get different alignments.
    const std::string number = std::to_string(layer),
                      name = "w" + std::string(static_cast<std::size_t>(layer), 'w');
    model.initializer(name, {64, 64}, weights);
    model.node("MatMul", {layer == 0 ? "x" : "y" + std::to_string(layer - 1), name}, {"p" + number});
    model.node("Relu", {"p" + number}, {"y" + number});
  }
  return test::written(folder, model);
}

struct AlignWeights : testing::TestWithParam<std::filesystem::path> {
  std::vector<float> outputs(const std::filesystem::path& file) const {
    const Session session = Session::load(file, {.library = GetParam().string()});
    Call call = session.call();
    int i = 0;
    for (float& value : call.input<float>()) value = static_cast<float>(i++ % 7 - 3);
    call.run();
    const auto y = call.output<float>();
    return {y.begin(), y.end()};
  }
  test::TemporaryFolder folder;
};

TEST_P(AlignWeights, MovesThemAndChangesNoNumber) {
  const auto model = chain_of_weights(folder);
  const auto ort = folder / "model.ort";
  runtime::write_ort(model, ort, {.library = GetParam().string()});
  const std::vector<float> expected = outputs(model);
  EXPECT_EQ(outputs(ort), expected);
  const std::size_t moved = align_weights(ort);
  EXPECT_GE(moved, 1U);
  EXPECT_EQ(outputs(ort), expected);
  EXPECT_EQ(align_weights(ort), 0U);  // all weights are aligned already
  EXPECT_EQ(outputs(ort), expected);
}

TEST_P(AlignWeights, WhatIsNoSuchFileIsLeftAlone) {
  const auto model = chain_of_weights(folder);
  const auto ort = folder / "model.ort";
  runtime::write_ort(model, ort, {.library = GetParam().string()});
  const std::string whole = test::read_file(ort);
  // Damaged tables must not cause reads outside the file, and weights are moved only if all of them are
  // readable.
  for (std::size_t at = 0; at < 60; at += 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    test::write_file(folder / "damaged", damaged);
    align_weights(folder / "damaged");
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{40}, whole.size() / 2}) {
    test::write_file(folder / "cut", whole.substr(0, size));
    EXPECT_EQ(align_weights(folder / "cut"), 0U);
    EXPECT_EQ(test::read_file(folder / "cut"), whole.substr(0, size));
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, AlignWeights, testing::ValuesIn(runtime::Library::installed()),
                         test::version_name);

}  // namespace
}  // namespace ounce::app
