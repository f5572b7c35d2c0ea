#include "data/source/sources.h"

#include <gmock/gmock.h>

#include "goldens/image_goldens.h"
#include "support/archive_bytes.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using test::numbers_of;
using test::wav;
using testing::ElementsAre;
using testing::HasSubstr;

struct MediaSourceTest : testing::Test {
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder / name).parent_path());
    ounce::test::write_file(folder / name, bytes);
  }
  void picture(const std::string& name) const { write(name, golden_bytes("rgb8.png")); }
  MediaSource open(MediaSource::Frames frames = {0, 0}) const { return MediaSource(folder.path(), frames); }
  static std::vector<std::string> names(MediaSource& source) {
    std::vector<std::string> all;
    for (std::uint64_t i = 0; i < source.size(); ++i) all.push_back(source.read(i).name);
    return all;
  }
  static std::vector<std::int64_t> classes(MediaSource& source) {
    std::vector<std::int64_t> all;
    for (std::uint64_t i = 0; i < source.size(); ++i)
      all.push_back(numbers_of<std::int64_t>(*source.read(i).find("folder")).at(0));
    return all;
  }
  static std::vector<std::int16_t> sound(MediaSource& source, std::uint64_t index) {
    return numbers_of<std::int16_t>(*source.read(index).find("data"));
  }
  std::string refusal(MediaSource::Frames frames = {0, 0}) const {
    const Error error = error_of([&] { open(frames); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_EQ(error.where(), folder.path().string());
    return error.what();
  }
  ounce::test::TemporaryFolder folder;
};

TEST_F(MediaSourceTest, PicturesAreDecoded) {
  picture("a.png");
  MediaSource source = open();
  const Sample sample = source.read(0);
  EXPECT_EQ(sample.find("data")->type, ElementType::kUint8);
  EXPECT_EQ(sample.find("data")->dims.size(), 3U);
  EXPECT_EQ(sample.find("data")->bytes, golden_bytes("rgb8.rgb"));
  ASSERT_EQ(source.fields().size(), 1U);
  EXPECT_EQ(source.fields()[0].name, "data");
  EXPECT_EQ(source.fields()[0].type, ElementType::kUint8);
  EXPECT_FALSE(source.has_batch_axis());
}

TEST_F(MediaSourceTest, OneFileIsADataset) {
  write("a.wav", wav({1, 2}));
  MediaSource source(folder / "a.wav");
  EXPECT_EQ(source.size(), 1U);
  EXPECT_EQ(source.read(0).name, "a.wav");
  EXPECT_EQ(source.read(0).sampling_rate, 8000);
}

TEST_F(MediaSourceTest, FilesComeInTheOrderOfTheAlphabet) {
  for (const char* name : {"c.png", "a.PNG", "b/z.png", "b.png"}) picture(name);
  write("notes.txt", "x");
  MediaSource source = open();
  EXPECT_THAT(names(source), ElementsAre("a.PNG", "b/z.png", "b.png", "c.png"));
  MediaSource slash(folder.path().string() + "/");
  EXPECT_THAT(names(slash), ElementsAre("a.PNG", "b/z.png", "b.png", "c.png"));
}

TEST_F(MediaSourceTest, FoldersAreClasses) {
  for (const char* name : {"dog/1.png", "cat/2.png", "cat/more/3.png", "emu/1.png"}) picture(name);
  MediaSource source = open();
  EXPECT_THAT(names(source), ElementsAre("cat/2.png", "cat/more/3.png", "dog/1.png", "emu/1.png"));
  EXPECT_THAT(classes(source), ElementsAre(0, 0, 1, 2));
  ASSERT_EQ(source.fields().size(), 2U);
  EXPECT_EQ(source.fields()[1].name, "folder");
}

TEST_F(MediaSourceTest, OneFolderOrFilesBesideFoldersAreNoClasses) {
  picture("cat/1.png");
  EXPECT_EQ(open().fields().size(), 1U);
  picture("dog/1.png");
  EXPECT_EQ(open().fields().size(), 2U);
  picture("1.png");
  EXPECT_EQ(open().fields().size(), 1U);
}

TEST_F(MediaSourceTest, HiddenFilesAndFoldersAreSkipped) {
  for (const char* name : {"a/1.png", "a/._1.png", "b/1.png", ".ipynb_checkpoints/1.png", "b/.trash/2.png"})
    picture(name);
  MediaSource source = open();
  EXPECT_THAT(names(source), ElementsAre("a/1.png", "b/1.png"));
  EXPECT_THAT(classes(source), ElementsAre(0, 1));
}

TEST_F(MediaSourceTest, MixedKindsAreRefused) {
  picture("a.png");
  write("b.wav", wav({1}));
  EXPECT_THAT(refusal(), HasSubstr("images and sound"));
}

TEST_F(MediaSourceTest, AFolderWithoutAnyIsRefused) {
  EXPECT_THAT(refusal(), HasSubstr("no .jpg, .png or .wav"));
  write("list.csv", "x");
  EXPECT_THAT(refusal(), HasSubstr("no .jpg, .png or .wav"));
}

TEST_F(MediaSourceTest, FramesAreCutFromSoundOnly) {
  picture("a.png");
  EXPECT_THAT(refusal({4, 0}), HasSubstr("these are images"));
}

TEST_F(MediaSourceTest, RecordingsAreWholeWithoutFrames) {
  write("a.wav", wav({1, 2, 3}));
  write("b.wav", wav({4}));
  MediaSource source = open();
  EXPECT_EQ(source.size(), 2U);
  EXPECT_THAT(sound(source, 0), ElementsAre(1, 2, 3));
  EXPECT_THAT(sound(source, 1), ElementsAre(4));
}

TEST_F(MediaSourceTest, ARecordingIsASequenceOfFrames) {
  write("a.wav", wav({1, 2, 3, 4, 5}));
  write("b.wav", wav({6}));  // shorter than a frame: gives no sample
  write("c.wav", wav({7, 8}));
  MediaSource source = open({2, 0});
  EXPECT_THAT(names(source), ElementsAre("a.wav[0]", "a.wav[1]", "c.wav[0]"));
  EXPECT_THAT(sound(source, 0), ElementsAre(1, 2));
  EXPECT_THAT(sound(source, 1), ElementsAre(3, 4));
  EXPECT_THAT(sound(source, 2), ElementsAre(7, 8));
  EXPECT_TRUE(source.starts_sequence(0));
  EXPECT_FALSE(source.starts_sequence(1));
  EXPECT_TRUE(source.starts_sequence(2));
  EXPECT_EQ(source.read(2).sampling_rate, 8000);
}

TEST_F(MediaSourceTest, FramesThatOverlapBeginWithWhatWasBefore) {
  write("a.wav", wav({1, 2, 3, 4, 5}));
  MediaSource source = open({5, 2});
  EXPECT_EQ(source.size(), 2U);
  EXPECT_THAT(sound(source, 0), ElementsAre(0, 0, 0, 1, 2));
  EXPECT_THAT(sound(source, 1), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(MediaSourceTest, ADamagedFileIsNamedWhenItIsRead) {
  write("a.png", "no picture");
  MediaSource source = open();
  const Error error = error_of([&] { source.read(0); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("a.png"));
}

}  // namespace
}  // namespace ounce::data
