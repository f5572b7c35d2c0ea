#include "search/tune/journal.h"

#include <gmock/gmock.h>

#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce::search {
namespace {

using ounce::test::error_of;
using ounce::test::write_file;

struct IdentityTest : testing::Test {
  IdentityTest() {
    write_file(folder / "data.bin", "12345678");
    data.path = folder / "data.bin";
  }
  ounce::test::TemporaryFolder folder;
  DataOptions data;
};

TEST_F(IdentityTest, ContentDecidesAndNotTheName) {
  const std::string before = digest_of_data(data);
  std::filesystem::rename(folder / "data.bin", folder / "other.bin");
  data.path = folder / "other.bin";
  EXPECT_EQ(digest_of_data(data), before);
  write_file(data.path, "12345679");
  EXPECT_NE(digest_of_data(data), before);
}

TEST_F(IdentityTest, AFolderIsAllThatIsBelowIt) {
  std::filesystem::create_directories(folder / "images/cats");
  write_file(folder / "images/cats/a.png", "a");
  data.path = folder / "images";
  const std::string before = digest_of_data(data);
  EXPECT_EQ(digest_of_data(data), before);
  write_file(folder / "images/cats/b.png", "b");
  const std::string more = digest_of_data(data);
  EXPECT_NE(more, before);
  write_file(folder / "images/cats/b.png", "c");
  EXPECT_NE(digest_of_data(data), more);
}

TEST_F(IdentityTest, AListIsTheFilesThatItNames) {
  write_file(folder / "a.png", "a");
  write_file(folder / "list.csv", "file,label\na.png,1\n");
  data.path = folder / "list.csv";
  const std::string before = digest_of_data(data);
  write_file(folder / "data.bin", "not in the list");
  EXPECT_EQ(digest_of_data(data), before);
  write_file(folder / "a.png", "b");
  EXPECT_NE(digest_of_data(data), before);
}

TEST_F(IdentityTest, HowDataMeetsTheModelCounts) {
  const std::string before = digest_of_data(data);
  const auto changed = [&](auto change) {
    DataOptions other = data;
    change(other);
    return digest_of_data(other) != before;
  };
  EXPECT_TRUE(changed([](DataOptions& d) { d.labels = "y"; }));
  EXPECT_TRUE(changed([](DataOptions& d) { d.first = 1; }));
  EXPECT_TRUE(changed([](DataOptions& d) { d.samples = 1; }));
  EXPECT_TRUE(changed([](DataOptions& d) { d.parts = 2; }));
  EXPECT_TRUE(changed([](DataOptions& d) { d.batch = 2; }));
  EXPECT_TRUE(changed([](DataOptions& d) { d.fields["x"] = "y"; }));
  EXPECT_TRUE(changed([](DataOptions& d) { d.constants["x"] = 1; }));
  EXPECT_TRUE(changed([](DataOptions& d) { d.carry["x"] = "y"; }));
  EXPECT_TRUE(changed([](DataOptions& d) { d.shape["x"] = 1; }));
  EXPECT_TRUE(changed([&](DataOptions& d) { d.paths["x"] = d.path; }));
  EXPECT_TRUE(changed([](DataOptions& d) { d.contract.emplace().inputs["x"].rescale_factor = 0.5; }));
}

TEST_F(IdentityTest, DataThatIsNotThereIsTold) {
  data.path = folder / "nowhere.npz";
  EXPECT_EQ(error_of([&] { digest_of_data(data); }).code(), ErrorCode::kIo);
}

TEST_F(IdentityTest, TheModelTheRuntimeAndTheRestCount) {
  ounce::test::ModelBuilder model;
  model.input("x", ounce::test::kFloat, {1, 2}).output("y", ounce::test::kFloat, {1, 2});
  model.initializer("w", {2, 2}, {1, 2, 3, 4}).node("MatMul", {"x", "w"}, {"y"});
  write_file(folder / "model.onnx", model.bytes());
  const std::string before = identity_of(folder / "model.onnx", data, {}, "more");
  EXPECT_EQ(identity_of(folder / "model.onnx", data, {}, "more"), before);
  EXPECT_NE(identity_of(folder / "model.onnx", data, {}, "other"), before);
  RuntimeOptions runtime;
  runtime.optimization = OptimizationLevel::kNone;
  EXPECT_NE(identity_of(folder / "model.onnx", data, runtime, "more"), before);
  model.initializer("unused", {1}, {1});
  write_file(folder / "model.onnx", model.bytes());
  EXPECT_NE(identity_of(folder / "model.onnx", data, {}, "more"), before);
}

}  // namespace
}  // namespace ounce::search
