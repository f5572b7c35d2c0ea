#include "publish/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>
#include <ounce/publish.h>
#include <sys/stat.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::publication {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class InputFolderTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& text = "x") const {
    fs::create_directories((folder / name).parent_path());
    test::write_file(folder / name, text);
  }
  InputFolder read() const { return read_input(folder.path()); }

  const test::TemporaryFolder folder;
};

TEST_F(InputFolderTest, ModelsAreToldFromWhatBelongsToThem) {
  for (const char* name :
       {"onnx/model.onnx", "onnx/model.onnx_data", "onnx/model.onnx_data_1", "onnx/model_q4.onnx",
        "onnx/model_q4f16.onnx", "config.json", "tokenizer.json", "1_Pooling/config.json", ".gitattributes",
        "README.md", "model.onnx.0123456789abcdef.data"})
    add(name);
  const InputFolder found = read();
  EXPECT_THAT(found.models, ElementsAre(folder / "onnx/model.onnx"));
  EXPECT_THAT(found.files,
              ElementsAre("1_Pooling/config.json", "README.md", "config.json", "tokenizer.json"));
  EXPECT_THAT(found.notes,
              ElementsAre("skipped .gitattributes: hidden",
                          "skipped onnx/model_q4.onnx: a variant of another model in the folder",
                          "skipped onnx/model_q4f16.onnx: a variant of another model in the folder"));
  EXPECT_TRUE(found.has("config.json"));
  EXPECT_FALSE(found.has("none.json"));
  EXPECT_THAT(originals_in(folder.path()), ElementsAre(folder / "onnx/model.onnx"));
}

TEST_F(InputFolderTest, AVariantAloneIsAModel) {
  add("model_q4.onnx");
  EXPECT_THAT(read().models, ElementsAre(folder / "model_q4.onnx"));
}

TEST_F(InputFolderTest, NothingOfTheRestOfTheDiskIsPublished) {
  add("model/model.onnx");
  add("secret.txt");
  fs::create_symlink(folder / "secret.txt", folder / "model/tokenizer.json");
  fs::create_symlink("../secret.txt", folder / "model/vocab.txt");
  fs::create_directory_symlink("/", folder / "model/root");
  fs::create_symlink("nowhere", folder / "model/dangling");
  fs::create_symlink("model.onnx", folder / "model/inside.bin");
  ASSERT_EQ(::mkfifo((folder / "model/pipe").c_str(), 0600), 0);
  const InputFolder found = read_input(folder / "model");
  EXPECT_THAT(found.files, ElementsAre("inside.bin"));
  EXPECT_EQ(found.notes.size(), 5U);
  EXPECT_THAT(found.notes, Contains("skipped pipe: not a file"));
  EXPECT_THAT(found.notes, Contains("skipped tokenizer.json: a link to a file outside the folder"));
}

TEST_F(InputFolderTest, ACacheOfLinksToBlobsIsRead) {
  add("models--x/blobs/abc");
  add("models--x/snapshots/1/model.onnx");
  fs::create_symlink("../../blobs/abc", folder / "models--x/snapshots/1/config.json");
  EXPECT_THAT(read_input(folder / "models--x/snapshots/1").files, ElementsAre("config.json"));
}

TEST_F(InputFolderTest, AFolderWithoutModelsOrWithoutEndIsRefused) {
  add("config.json");
  EXPECT_EQ(test::error_of([&] { read(); }).code(), ErrorCode::kUsage);
  std::string deep = "d";
  for (int i = 0; i < 40; ++i) deep += "/d";
  add(deep + "/model.onnx");
  EXPECT_EQ(test::error_of([&] { read(); }).code(), ErrorCode::kBadInput);
}

TEST_F(InputFolderTest, OneModelIsAnInputToo) {
  add("a/model.onnx");
  add("a/config.json");
  const InputFolder found = read_input(folder / "a/model.onnx");
  EXPECT_THAT(found.models, ElementsAre(folder / "a/model.onnx"));
  EXPECT_TRUE(found.files.empty());
}

}  // namespace
}  // namespace ounce::publication
