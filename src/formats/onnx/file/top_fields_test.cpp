#include "formats/onnx/file/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ounce::onnx {
namespace {

std::string joined(const std::vector<Bytes>& fields) {
  std::string text;
  for (const Bytes& field : fields) text += field;
  return text;
}

TEST(TopFieldsTest, AnAppendedEntryIsMetadataOfTheModel) {
  const std::string plain = metadata_field("a", "1") + metadata_field("b", "2");
  EXPECT_EQ(joined(fields_without_metadata(plain)), "");
  EXPECT_EQ(joined(fields_without_entry(plain, "a")), metadata_field("b", "2"));
  EXPECT_EQ(joined(fields_without_entry(plain, "c")), plain);
}

// Two fields that must not be confused with metadata, for all positions of the metadata.
TEST(TopFieldsTest, TheRestIsTheSameWhereverMetadataStands) {
  const std::string version("\x08\x08", 2), producer("\x12\x01x", 3);
  const std::string entry = metadata_field("key", std::string(300, 'v'));
  for (const std::string& file : {version + producer, entry + version + producer, version + entry + producer,
                                  version + entry + entry + producer + entry}) {
    EXPECT_EQ(fields_without_metadata(file), (std::vector<Bytes>{version, producer}));
  }
}

}  // namespace
}  // namespace ounce::onnx
