#include "data/source/open_source.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace ounce::data {
namespace {

namespace fs = std::filesystem;
using ounce::test::write_file;

class ReadFilesTest : public testing::Test {
 protected:
  // True if reading `data` reads `file`; both are in the folder.
  bool is_read(const char* data, const char* file) const {
    DataOptions options;
    options.path = folder / data;
    return is_read_from(options, folder / file);
  }

  ounce::test::TemporaryFolder folder;
};

TEST_F(ReadFilesTest, TheFileItselfUnderAnyName) {
  write_file(folder / "d.npz", "x");
  write_file(folder / "other.npz", "x");
  fs::create_symlink("d.npz", folder / "soft.npz");
  fs::create_hard_link(folder / "d.npz", folder / "hard.npz");
  for (const char* name : {"d.npz", "soft.npz", "hard.npz"}) {
    EXPECT_TRUE(is_read("d.npz", name)) << name;
    EXPECT_TRUE(is_read(name, "d.npz")) << name;
  }
  EXPECT_FALSE(is_read("d.npz", "other.npz"));
  EXPECT_FALSE(is_read("d.npz", "free.npz"));
}

TEST_F(ReadFilesTest, TheFileOfASingleInput) {
  write_file(folder / "a.npy", "x");
  DataOptions options;
  options.paths["a"] = folder / "a.npy";
  EXPECT_TRUE(is_read_from(options, folder / "a.npy"));
}

TEST_F(ReadFilesTest, OfAFolderTheSamplesAndNothingElse) {
  fs::create_directories(folder / "pictures/cats");
  write_file(folder / "pictures/cats/1.jpg", "x");
  write_file(folder / "pictures/model.onnx", "x");
  fs::create_hard_link(folder / "pictures/cats/1.jpg", folder / "hard.onnx");
  EXPECT_TRUE(is_read("pictures", "pictures/cats/1.jpg"));
  EXPECT_TRUE(is_read("pictures", "hard.onnx"));
  EXPECT_FALSE(is_read("pictures", "pictures/model.onnx"));
}

TEST_F(ReadFilesTest, OfATestFolderItsTensors) {
  fs::create_directories(folder / "node/test_data_set_0");
  write_file(folder / "node/test_data_set_0/input_0.pb", "x");
  write_file(folder / "node/model.onnx", "x");
  EXPECT_TRUE(is_read("node", "node/test_data_set_0/input_0.pb"));
  EXPECT_FALSE(is_read("node", "node/model.onnx"));
}

TEST_F(ReadFilesTest, WhatAListNames) {
  fs::create_directories(folder / "wav");
  for (const char* name : {"wav/a.wav", "wav/b.wav", "wav/c.wav"}) write_file(folder / name, "x");
  write_file(folder / "list.csv", "file,label\nwav/a.wav,1\nwav/b.wav,2\n");
  write_file(folder / "list.jsonl", "{\"file\": \"wav/a.wav\"}\n{\"file\": \"wav/b.wav\"}\n");
  for (const char* list : {"list.csv", "list.jsonl"}) {
    EXPECT_TRUE(is_read(list, list));
    EXPECT_TRUE(is_read(list, "wav/b.wav")) << list;
    EXPECT_FALSE(is_read(list, "wav/c.wav")) << list;
  }
}

}  // namespace
}  // namespace ounce::data
