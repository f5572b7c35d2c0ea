
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/tensor_reader.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce::onnx {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::external_tensor;
using test::field;
using test::ModelBuilder;
using test::raw_floats;
using test::write_file;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string entry(const std::string& key, const std::string& value) {
  return field(13, field(1, key) + field(2, value));
}

// A folder with a model file in `model/`, and a file outside of it that must not be readable.
class ExternalDataTest : public testing::Test {
 protected:
  ExternalDataTest() {
    fs::create_directories(folder / "model/inner");
    write_file(folder / "model/data.bin", raw_floats({1, 2, 3, 4}));
    write_file(folder / "model/inner/more.bin", raw_floats({5, 6}));
    write_file(folder / "secret.bin", raw_floats({7, 8, 9, 10}));
  }

  Model read(const std::vector<std::string>& tensors) {
    ModelBuilder model;
    for (const std::string& tensor : tensors) model.initializer(tensor);
    write_file(folder / "model/m.onnx", model.bytes());
    return read_model(folder / "model/m.onnx");
  }
  Error refusal(const std::string& tensor) {
    return error_of([&] { read({tensor}); });
  }
  // Every error names the tensor.
  Error refusal_of_location(const std::string& location) {
    Error error = refusal(external_tensor("w", {2}, location, "", ""));
    EXPECT_EQ(error.where(), "tensor 'w'") << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error;
  }
  void expect_bad_location(const std::string& location, const std::string& why) {
    const Error error = refusal_of_location(location);
    EXPECT_EQ(error.code(), ErrorCode::kBadInput) << error.what();
    EXPECT_THAT(error.what(), AllOf(HasSubstr(why), HasSubstr("it must be in the model's folder")))
        << location;
  }

  test::TemporaryFolder folder;
};

std::string values(const Model& model, std::size_t tensor) {
  return std::string(RawValues(*model.proto->graph->initializers.at(tensor)).bytes());
}

// --- Valid references.

TEST_F(ExternalDataTest, ReadsOffsetsAndLengthsFromSeveralFiles) {
  const Model model =
      read({external_tensor("a", {2}, "data.bin", "8", "8"), external_tensor("b", {4}, "data.bin", "", ""),
            external_tensor("c", {1}, "inner/more.bin", "4", "4"),
            external_tensor("d", {0}, "data.bin", "16", "0")});
  EXPECT_EQ(values(model, 0), raw_floats({3, 4}));
  EXPECT_EQ(values(model, 1), raw_floats({1, 2, 3, 4}));
  EXPECT_EQ(values(model, 2), raw_floats({6}));
  EXPECT_EQ(values(model, 3), "");
  EXPECT_EQ(model.external_files.size(), 2U);
  EXPECT_TRUE(model.proto->graph->initializers[0]->is_external);
}

TEST_F(ExternalDataTest, ATensorMayBeShorterThanTheRestOfTheFile) {
  EXPECT_EQ(values(read({external_tensor("w", {1}, "data.bin", "4", "")}), 0), raw_floats({2}));
}

TEST_F(ExternalDataTest, IgnoresEntriesThatItDoesNotKnow) {
  const std::string tensor = external_tensor("w", {2}, "data.bin", "0", "8") + entry("checksum", "da39a3ee");
  EXPECT_EQ(values(read({tensor}), 0), raw_floats({1, 2}));
}

TEST_F(ExternalDataTest, ReadsExternalDataInSubgraphsAttributesAndFunctions) {
  const std::string tensor = external_tensor("w", {2}, "data.bin", "0", "8");
  const std::string constant = test::node("Constant", {}, {"c"}, {test::tensor_attribute("value", tensor)});
  const std::string branch = test::GraphBuilder().initializer(tensor).bytes();
  ModelBuilder model;
  model.add(1, constant).node("If", {}, {}, {test::graph_attribute("then_branch", branch)});
  model.add_to_model(25, field(1, std::string("f")) + field(7, constant));
  write_file(folder / "model/m.onnx", model.bytes());
  EXPECT_EQ(read_model(folder / "model/m.onnx").external_files.size(), 1U);
}

TEST_F(ExternalDataTest, NamesThatOnlyLookLikePathsOutAreAccepted) {
  for (const std::string name : {"..data", "data..", "...", "a..b", "a b", "größe.bin", "*", "-", "~"}) {
    write_file(folder / "model" / name, raw_floats({1, 2}));
    EXPECT_EQ(values(read({external_tensor("w", {2}, name, "", "")}), 0), raw_floats({1, 2})) << name;
  }
  EXPECT_NO_THROW(read({external_tensor("w", {2}, "./data.bin", "", "")}));
  EXPECT_NO_THROW(read({external_tensor("w", {2}, "inner//more.bin", "", "")}));
}

// --- Rejected paths.

TEST_F(ExternalDataTest, RefusesAbsolutePaths) {
  expect_bad_location("/etc/passwd", "is an absolute path");
  expect_bad_location("//etc/passwd", "is an absolute path");
  expect_bad_location((folder / "model/data.bin").string(), "is an absolute path");
}

TEST_F(ExternalDataTest, RefusesTwoDotsAtAnyPlace) {
  for (const std::string location :
       {"..", "../secret.bin", "inner/../../secret.bin", "inner/../data.bin", "./../secret.bin", "inner/..",
        "inner//../data.bin", "a/b/c/../../../../secret.bin"}) {
    expect_bad_location(location, "contains '..'");
  }
}

TEST_F(ExternalDataTest, RefusesDrivesAndBackslashes) {
  expect_bad_location("C:/data.bin", "names a drive");
  expect_bad_location("c:data.bin", "names a drive");
  expect_bad_location("C:", "names a drive");
  expect_bad_location("..\\secret.bin", "contains a backslash");
  expect_bad_location("\\\\server\\share", "contains a backslash");
  expect_bad_location("inner\\more.bin", "contains a backslash");
}

TEST_F(ExternalDataTest, RefusesEmptyNamesAndControlCharacters) {
  expect_bad_location("", "has no name");
  expect_bad_location(std::string("data.bin\0.txt", 13), "contains control characters");
  expect_bad_location("data\n.bin", "contains control characters");
  expect_bad_location("\x1b[2J", "contains control characters");
  expect_bad_location("data\x7f", "contains control characters");
}

TEST_F(ExternalDataTest, RefusesTheMarkersOfTheRuntimeForMemoryAddresses) {
  for (const std::string marker :
       {"*/_ORT_MEM_ADDR_/*", "*/_ORT_MEM_ADDR_/", "*/_ORT_NETWORK_MEM_ADDR_/*", "*/_ORT_anything"}) {
    // Rejected even if such a file exists.
    fs::create_directories((folder / "model" / marker).parent_path());
    if (!marker.ends_with('/')) write_file(folder / "model" / marker, raw_floats({1, 2}));
    expect_bad_location(marker, "is a marker for a memory address, not a file");
  }
}

TEST_F(ExternalDataTest, RefusesLinksThatLeaveTheFolder) {
  fs::create_symlink("../secret.bin", folder / "model/link");
  fs::create_symlink(folder / "secret.bin", folder / "model/absolute_link");
  fs::create_symlink("..", folder / "model/up");
  fs::create_symlink("/", folder / "model/root");
  fs::create_symlink("link", folder / "model/link_to_link");
  fs::create_symlink("../secret.bin/../model/data.bin", folder / "model/out_and_back");
  for (const std::string location :
       {"link", "absolute_link", "up/secret.bin", "root/etc/passwd", "link_to_link", "up/model/data.bin"}) {
    const Error error = refusal_of_location(location);
    EXPECT_EQ(error.code(), ErrorCode::kBadInput) << location;
    EXPECT_THAT(error.what(), HasSubstr("leads outside of the model's folder")) << location;
  }
  refusal_of_location("out_and_back");
}

TEST_F(ExternalDataTest, AcceptsLinksThatStayInTheFolder) {
  fs::create_symlink("data.bin", folder / "model/link");
  fs::create_symlink("inner", folder / "model/inner_link");
  fs::create_symlink("../data.bin", folder / "model/inner/back");
  EXPECT_EQ(values(read({external_tensor("w", {2}, "link", "", "")}), 0), raw_floats({1, 2}));
  EXPECT_EQ(values(read({external_tensor("w", {2}, "inner_link/more.bin", "", "")}), 0), raw_floats({5, 6}));
  EXPECT_EQ(values(read({external_tensor("w", {2}, "inner/back", "", "")}), 0), raw_floats({1, 2}));
}

TEST_F(ExternalDataTest, DoesNotWaitForAPipe) {
  ASSERT_EQ(::mkfifo((folder / "model/pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal_of_location("pipe").what(), HasSubstr("is not a regular file"));
}

TEST_F(ExternalDataTest, DoesNotReadDevicesAndFolders) {
  if (::mknod((folder / "model/zero").c_str(), S_IFCHR | 0600, 1 << 8 | 5) == 0) {  // needs root: /dev/zero
    refusal_of_location("zero");
  }
  EXPECT_THAT(refusal_of_location("inner").what(), HasSubstr("is a folder, not a file"));
  EXPECT_THAT(refusal_of_location(".").what(), HasSubstr("is a folder, not a file"));
  EXPECT_THAT(error_of([] { io::MappedFile::open("/dev/zero"); }).what(), HasSubstr("is not a regular file"));
}

TEST_F(ExternalDataTest, SurvivesALoopOfLinks) {
  fs::create_symlink("b", folder / "model/a");
  fs::create_symlink("a", folder / "model/b");
  refusal_of_location("a");
}

TEST_F(ExternalDataTest, SaysWhichFileIsMissing) {
  const Error error = refusal_of_location("nothing.bin");
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("nothing.bin"), HasSubstr("No such file or directory")));
  EXPECT_EQ(refusal_of_location(std::string(10000, 'x')).code(), ErrorCode::kBadInput);
  EXPECT_EQ(refusal_of_location("data.bin/").code(), ErrorCode::kBadInput);
}

// --- Ranges.

TEST_F(ExternalDataTest, RefusesDataPastTheEndOfTheFile) {
  const auto expect_past = [&](const std::string& tensor) {
    const Error error = refusal(tensor);
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.what(), AllOf(StartsWith("tensor 'w': reaches past the end of 'data.bin'"),
                                    HasSubstr("the file has 16")));
  };
  expect_past(external_tensor("w", {2}, "data.bin", "12", "8"));
  expect_past(external_tensor("w", {5}, "data.bin", "", ""));
  expect_past(external_tensor("w", {0}, "data.bin", "17", "0"));
  expect_past(external_tensor("w", {2}, "data.bin", "18446744073709551615", "8"));  // 2^64 - 1
  expect_past(external_tensor("w", {2}, "data.bin", "18446744073709551608", ""));   // + 8 is 0
  expect_past(external_tensor("w", {std::int64_t{1} << 40}, "data.bin", "0", ""));
}

TEST_F(ExternalDataTest, AnEmptyFileHasRoomForNothing) {
  write_file(folder / "model/empty", "");
  EXPECT_NO_THROW(read({external_tensor("w", {0}, "empty", "", "")}));
  EXPECT_THAT(refusal(external_tensor("w", {1}, "empty", "", "")).what(), HasSubstr("reaches past the end"));
}

TEST_F(ExternalDataTest, RefusesALengthThatIsNotTheTensors) {
  for (const std::string length : {"7", "9", "0", "16", "18446744073709551615"}) {
    EXPECT_EQ(
        refusal(external_tensor("w", {2}, "data.bin", "0", length)).what(),
        fmt::format("tensor 'w': has {} bytes of external data where its shape and type need 8", length));
  }
}

TEST_F(ExternalDataTest, RefusesNumbersThatAreNone) {
  for (const std::string text :
       {"abc", "1x", "-1", "+1", " 1", "0x10", "1.0", "18446744073709551616", "99999999999999999999999"}) {
    EXPECT_STREQ(refusal(external_tensor("w", {2}, "data.bin", text, "")).what(),
                 "tensor 'w': its external data's offset is not a number");
    EXPECT_STREQ(refusal(external_tensor("w", {2}, "data.bin", "0", text)).what(),
                 "tensor 'w': its external data's length is not a number");
  }
  EXPECT_THAT(refusal(external_tensor("w", {2}, "data.bin", "", "") + entry("offset", "")).what(),
              HasSubstr("offset is not a number"));
}

// --- Contents of the entries.

TEST_F(ExternalDataTest, RefusesTwoLocations) {
  EXPECT_STREQ(
      refusal(external_tensor("w", {2}, "data.bin", "", "") + entry("location", "inner/more.bin")).what(),
      "tensor 'w': names two files for its external data");
}

TEST_F(ExternalDataTest, RefusesTwoOffsetsOrLengths) {
  EXPECT_STREQ(refusal(external_tensor("w", {2}, "data.bin", "0", "") + entry("offset", "8")).what(),
               "tensor 'w': names two offsets for its external data");
  EXPECT_STREQ(refusal(external_tensor("w", {2}, "data.bin", "", "8") + entry("length", "8")).what(),
               "tensor 'w': names two lengths for its external data");
}

TEST_F(ExternalDataTest, RefusesAMissingLocation) {
  const std::string start = field(1, std::int64_t{2}) + field(2, std::int64_t{1}) +
                            field(8, std::string("w")) + field(14, std::int64_t{1});
  EXPECT_STREQ(refusal(start).what(), "tensor 'w': has external data but names no file");
  EXPECT_STREQ(refusal(start + entry("offset", "0")).what(),
               "tensor 'w': has external data but names no file");
}

TEST_F(ExternalDataTest, RefusesExternalTogetherWithInlineData) {
  EXPECT_STREQ(refusal(external_tensor("w", {2}, "data.bin", "", "") + field(9, raw_floats({1, 2}))).what(),
               "tensor 'w': has both external and inline data");
  const std::string inline_tensor = test::float_tensor("w", {2}, {1, 2});
  EXPECT_STREQ(refusal(inline_tensor + entry("location", "data.bin")).what(),
               "tensor 'w': references external data but declares inline data");
}

TEST_F(ExternalDataTest, RefusesExternalStrings) {
  const std::string strings = field(1, std::int64_t{2}) + field(2, std::int64_t{8}) +
                              field(8, std::string("w")) + entry("location", "data.bin") +
                              field(14, std::int64_t{1});
  EXPECT_STREQ(refusal(strings).what(), "tensor 'w': strings cannot be external data");
}

TEST_F(ExternalDataTest, RefusesExternalDataOfAModelInMemory) {
  const std::string bytes = ModelBuilder().initializer(external_tensor("w", {2}, "data.bin", "", "")).bytes();
  EXPECT_STREQ(error_of([&] { read_model_from_memory(bytes, "test"); }).what(),
               "tensor 'w': has external data, but this model has no folder");
}

TEST_F(ExternalDataTest, AStandInIsHeldToTheSameRulesForItsName) {
  for (const std::string location : {"C:data.bin", "back\\slash", "../data.bin"}) {
    write_file(folder / "model/m.onnx",
               ModelBuilder().initializer(external_tensor("w", {2}, location, "", "")).bytes());
    const ReadOptions options{folder / "model", "m.onnx", {{location, folder / "model/data.bin"}}};
    EXPECT_EQ(error_of([&] { read_model(folder / "model/m.onnx", options); }).where(), "tensor 'w'")
        << location;
  }
}

}  // namespace
}  // namespace ounce::onnx
