#include "data/containers/byte_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "support/archive_bytes.h"
#include "support/error_of.h"
#include "support/mutations.h"

namespace ounce::data {
namespace {

using namespace test;
using ounce::test::error_of;
using testing::EndsWith;
using testing::HasSubstr;

// A text that can be compressed, but not to almost nothing.
std::string text(std::size_t size) {
  std::mt19937 random(3);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>('a' + random() % 7);
  return bytes;
}

std::string contents(const ZipEntry& entry) {
  ZipEntryStream stream(entry, entry.name);
  return stream.read(stream.size());
}

void read_all(const std::string& archive) {
  for (const ZipEntry& entry : read_zip_directory(archive, "a.zip")) contents(entry);
}

std::string archive_refusal(const std::string& archive) {
  const Error error = error_of([&] { read_all(archive); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  return error.what();
}

ZipEntryBytes deflated_entry(const std::string& bytes) {
  return {.name = "x",
          .stored = deflated(bytes),
          .method = 8,
          .size = bytes.size(),
          .checksum = checksum_of(bytes)};
}

TEST(ZipTest, ReadsStoredAndDeflatedEntries) {
  const std::string bytes = text(100'000);
  const std::string archive = ZipBytes().add("a", bytes).add("b/c", bytes, false).add("d", "").bytes();
  const auto entries = read_zip_directory(archive, "a.zip");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[1].name, "b/c");
  EXPECT_LT(entries[0].data.size(), bytes.size());
  EXPECT_TRUE(contents(entries[0]) == bytes);
  EXPECT_TRUE(contents(entries[1]) == bytes);
  EXPECT_EQ(contents(entries[2]), "");
}

TEST(ZipTest, ReadsAnEmptyArchiveAndOneWithAComment) {
  EXPECT_TRUE(read_zip_directory(ZipBytes().bytes(), "a.zip").empty());
  const std::string archive = ZipBytes().add("a", "xyz").bytes("PK\x05\x06 is how an end begins");
  EXPECT_EQ(contents(read_zip_directory(archive, "a.zip").at(0)), "xyz");
}

TEST(ZipTest, ReadsZip64AndDataDescriptors) {
  for (const bool is_zip64 : {false, true}) {
    for (const bool has_descriptor : {false, true}) {
      ZipEntryBytes entry = deflated_entry(text(1000));
      entry.is_zip64 = is_zip64;
      entry.has_descriptor = has_descriptor;
      ZipBytes zip;
      zip.add(entry);
      entry.name = "second";
      zip.add(entry);
      if (is_zip64) zip.end_with_zip64();
      const std::string archive = zip.bytes();
      const auto entries = read_zip_directory(archive, "a.zip");
      ASSERT_EQ(entries.size(), 2U);
      EXPECT_EQ(contents(entries[1]), text(1000));
    }
  }
}

TEST(ZipTest, ReadsTheSameBytesInAnyOrder) {
  const std::string bytes = text(200'000);
  for (const bool is_deflated : {false, true}) {
    const std::string archive = ZipBytes().add("a", bytes, is_deflated).bytes();
    ZipEntryStream stream(read_zip_directory(archive, "a.zip").at(0), "a");
    std::mt19937 random(5);
    for (int i = 0; i < 60; ++i) {
      const std::size_t at = random() % bytes.size();
      const std::size_t count = random() % (bytes.size() - at + 1);
      stream.seek(at);
      ASSERT_TRUE(stream.read(count) == bytes.substr(at, count)) << at << " " << count;
      EXPECT_EQ(stream.position(), at + count);
    }
    EXPECT_THROW(stream.seek(bytes.size() + 1), Error);
  }
}

TEST(ZipTest, FindsAWrongChecksumAtTheEnd) {
  const std::string bytes = text(1000);
  for (const bool is_deflated : {false, true}) {
    ZipEntryBytes entry = deflated_entry(bytes);
    if (!is_deflated) entry.stored = bytes, entry.method = 0;
    entry.checksum ^= 1U;
    const std::string archive = ZipBytes().add(entry).bytes();
    ZipEntryStream stream(read_zip_directory(archive, "a.zip").at(0), "a.zip: x");
    EXPECT_EQ(stream.read(999U), bytes.substr(0, 999));
    const Error error = error_of([&] { stream.read(1U); });
    EXPECT_STREQ(error.what(), "a.zip: x: is damaged: its checksum is wrong; copy or make the file again");
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    // A damaged entry stays damaged.
    const auto read_again = [&] {
      stream.seek(0);
      stream.read(1U);
    };
    EXPECT_THROW(read_again(), Error);
  }
}

TEST(ZipTest, FindsDataThatIsNotWhatItClaims) {
  ZipEntryBytes entry = deflated_entry(text(1000));
  entry.size = 999;
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()),
              HasSubstr("inflates to more than its 999 bytes"));
  entry.size = 1001;
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()),
              HasSubstr("inflates to less than its 1001 bytes"));
  entry = deflated_entry(text(1000));
  entry.stored.pop_back();
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()), HasSubstr("truncated"));
  entry.stored = "\xff\xff\xff\xff";
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()), HasSubstr("is damaged: invalid block type"));
}

TEST(ZipTest, RefusesWhatItCannotRead) {
  ZipEntryBytes entry = deflated_entry("abc");
  entry.method = 12;
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()), HasSubstr("'x' is compressed with method 12"));
  entry.method = 8;
  entry.flags = 1;
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()), HasSubstr("'x' is encrypted"));
  EXPECT_THAT(archive_refusal("not a zip archive, but long enough"), HasSubstr("it has no directory"));
  EXPECT_THAT(archive_refusal(""), HasSubstr("too short"));
  EXPECT_THAT(archive_refusal(ZipBytes().add("a", "x").add("a", "y").bytes()),
              EndsWith("two entries named 'a'"));
  EXPECT_THAT(archive_refusal(ZipBytes().add("a\nb", "x").bytes()), HasSubstr("control characters"));
}

TEST(ZipTest, RefusesEntriesInTheWrongPlace) {
  ZipEntryBytes entry = deflated_entry("abc");
  entry.offset_error = 1;
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()),
              HasSubstr("is not at the offset in the directory"));
  entry.offset_error = std::uint64_t{1} << 31;
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()),
              HasSubstr("is not at the offset in the directory"));
  entry.offset_error = UINT64_MAX - 10;
  entry.is_zip64 = true;
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()),
              HasSubstr("is not at the offset in the directory"));
}

// Entries that share their bytes would allow a short archive to inflate to petabytes.
TEST(ZipTest, RefusesEntriesThatOverlap) {
  const ZipEntryBytes inner = deflated_entry("abc");
  ZipBytes wanted;
  wanted.add(inner);
  ZipEntryBytes outer{.name = "y", .stored = wanted.bytes(), .method = 0};
  outer.size = outer.stored.size();
  outer.checksum = checksum_of(outer.stored);
  ZipEntryBytes hidden = inner;
  hidden.offset_error = 0 - outer.stored.size();  // the position of the entry inside y
  EXPECT_THAT(archive_refusal(ZipBytes().add(outer).add(hidden).bytes()),
              HasSubstr("two of its entries overlap"));
}

TEST(ZipTest, RefusesClaimsThatDeflateCannotKeep) {
  ZipEntryBytes entry = deflated_entry("abc");
  entry.size = 1'000'000;
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()),
              HasSubstr("claims 1000000 bytes, which 5 bytes of deflate cannot contain"));
  entry.is_zip64 = true;
  entry.size = std::uint64_t{1} << 62;
  EXPECT_THAT(archive_refusal(ZipBytes().add(entry).bytes()), HasSubstr("cannot contain"));
}

TEST(ZipTest, WhatDeflateCanHoldAtMostIsRead) {
  std::string zeros;
  zeros.resize(10'000'000);
  read_all(ZipBytes().add("zeros", zeros).bytes());
}

TEST(ZipTest, RefusesEveryTruncation) {
  expect_truncations_refused(ZipBytes().add("a", text(50)).add("b", text(20), false).bytes(), read_all);
  ZipEntryBytes entry = deflated_entry(text(30));
  entry.is_zip64 = true;
  expect_truncations_refused(ZipBytes().add(entry).end_with_zip64().bytes(), read_all);
}

TEST(ZipTest, SurvivesDamage) {
  expect_safe(ZipBytes().add("a", text(200)).add("b", text(20), false).bytes("comment"), read_all);
  ZipEntryBytes entry = deflated_entry(text(30));
  entry.is_zip64 = entry.has_descriptor = true;
  expect_safe(ZipBytes().add(entry).end_with_zip64().bytes(), read_all);
}

}  // namespace
}  // namespace ounce::data
