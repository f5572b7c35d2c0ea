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
using testing::ElementsAre;
using testing::HasSubstr;

struct ListSourceTest : testing::Test {
  ListSource open(const std::string& name, const std::string& text) const {
    ounce::test::write_file(folder / name, text);
    return ListSource(folder / name);
  }
  ounce::test::TemporaryFolder folder;
};

TEST_F(ListSourceTest, ColumnsAreFields) {
  ListSource list = open("list.csv", "x,name\n3,a\n0.5,b\n");
  EXPECT_EQ(list.size(), 2U);
  ASSERT_EQ(list.fields().size(), 2U);
  EXPECT_EQ(list.fields()[1].name, "name");
  EXPECT_EQ(list.file_field(), std::nullopt);
  EXPECT_THAT(numbers_of<std::int64_t>(*list.read(0).find("x")), ElementsAre(3));
  EXPECT_THAT(numbers_of<float>(*list.read(1).find("x")), ElementsAre(0.5));
  EXPECT_EQ(list.read(1).name, "list.csv[1]");
}

TEST_F(ListSourceTest, FilesAreReadRelativeToTheList) {
  std::filesystem::create_directory(folder / "sub");
  ounce::test::write_file(folder / "sub/a.png", golden_bytes("one_pixel.png"));
  ounce::test::write_file(folder / "b.npy",
                          test::npy_bytes("<f4", "(2,)", test::bytes_of(std::vector<float>{1, 2})));
  ListSource list = open("list.csv", "label,file\n7,sub/a.png\n8,b.npy\n");
  EXPECT_EQ(list.file_field(), "file");
  const Sample picture = list.read(0), array = list.read(1);
  EXPECT_EQ(picture.name, "sub/a.png");
  EXPECT_THAT(picture.find("file")->dims, ElementsAre(1, 1, 3));
  EXPECT_THAT(numbers_of<std::int64_t>(*picture.find("label")), ElementsAre(7));
  EXPECT_THAT(numbers_of<float>(*array.find("file")), ElementsAre(1, 2));
}

TEST_F(ListSourceTest, TellsTheRateOfSound) {
  using test::little_endian;
  ounce::test::write_file(folder / "a.wav",
                          "RIFF" + little_endian(40, 4) + "WAVEfmt " + little_endian(16, 4) +
                              little_endian(1, 2) + little_endian(1, 2) + little_endian(16000, 4) +
                              little_endian(32000, 4) + little_endian(2, 2) + little_endian(16, 2) + "data" +
                              little_endian(4, 4) + std::string("\1\0\2\0", 4));
  ListSource list = open("list.jsonl", "{\"audio\": \"a.wav\", \"label\": [1, 2]}\n");
  const Sample sample = list.read(0);
  EXPECT_EQ(sample.sampling_rate, 16000);
  EXPECT_THAT(numbers_of<std::int16_t>(*sample.find("audio")), ElementsAre(1, 2));
  EXPECT_THAT(numbers_of<std::int64_t>(*sample.find("label")), ElementsAre(1, 2));
}

TEST_F(ListSourceTest, AFileThatIsNotThereIsAnError) {
  ListSource list = open("list.csv", "file\nnone.png\n");
  const Error error = error_of([&] { list.read(0); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("none.png"));
}

TEST_F(ListSourceTest, AFileThatIsNoDataIsAnError) {
  ListSource list = open("list.csv", "file\nlist.csv\n");
  const Error error = error_of([&] { list.read(0); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("not a .jpg, .png, .wav or .npy file"));
}

TEST_F(ListSourceTest, ARowMustNameOneFile) {
  ListSource list = open("list.jsonl", "{\"file\": \"a.png\"}\n{\"file\": [\"a.png\", \"b.png\"]}\n");
  const Error error = error_of([&] { list.read(1); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("line 2"));
}

// Lists are trusted, like paths on the command line: they may name files anywhere.
TEST_F(ListSourceTest, FilesMayStandOutsideOfItsFolder) {
  std::filesystem::create_directory(folder / "lists");
  ounce::test::write_file(folder / "b.npy",
                          test::npy_bytes("<f4", "(2,)", test::bytes_of(std::vector<float>{1, 2})));
  ListSource list = open("lists/list.csv", "file\n../b.npy\n" + (folder / "b.npy").string() + "\n");
  EXPECT_THAT(numbers_of<float>(*list.read(0).find("file")), ElementsAre(1, 2));
  EXPECT_THAT(numbers_of<float>(*list.read(1).find("file")), ElementsAre(1, 2));
}

}  // namespace
}  // namespace ounce::data
