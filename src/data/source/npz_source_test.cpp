#include "data/source/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <numeric>
#include <random>

#include "support/archive_bytes.h"
#include "support/error_of.h"
#include "support/mutations.h"
#include "support/temporary_folder.h"

namespace ounce::data {
namespace {

using namespace test;
using ounce::test::error_of;
using ounce::test::write_file;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

std::filesystem::path golden_archive(const std::string& name) {
  return std::filesystem::path(OUNCE_TEST_GOLDENS) / "arrays" / name;
}

long peak_memory_in_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

class NpzSourceTest : public testing::Test {
 protected:
  std::filesystem::path save(const std::string& bytes) const {
    write_file(folder / "a.npz", bytes);
    return folder / "a.npz";
  }
  std::filesystem::path save(const ZipBytes& zip) const { return save(zip.bytes()); }
  static std::string refusal(const std::filesystem::path& path, const std::vector<std::string>& keys = {}) {
    return error_of([&] { NpzSource(path, keys); }).what();
  }

  ounce::test::TemporaryFolder folder;
};

class GoldenNpzTest : public testing::TestWithParam<const char*> {};

TEST_P(GoldenNpzTest, ReadsWhatNumPyWrote) {
  NpzSource source(golden_archive(GetParam()));
  ASSERT_EQ(source.size(), 4U);
  ASSERT_EQ(source.fields().size(), 7U);
  EXPECT_EQ(source.fields()[0].name, "x");
  EXPECT_EQ(source.fields()[0].type, ElementType::kUint8);
  EXPECT_EQ(source.fields()[0].dims, (Dims{2, 3}));
  EXPECT_EQ(source.fields()[6].dims, Dims{});
  const Sample sample = source.read(3);
  EXPECT_EQ(sample.name, std::string(GetParam()) + "[3]");
  EXPECT_EQ(sample.find("x")->dims, (Dims{2, 3}));
  EXPECT_THAT(values_of<std::uint8_t>(*sample.find("x")), ElementsAre(18, 19, 20, 21, 22, 23));
  EXPECT_THAT(values_of<std::int64_t>(*sample.find("y")), ElementsAre(std::int64_t{1} << 40));
  EXPECT_THAT(values_of<std::uint16_t>(*sample.find("half")), ElementsAre(0x4200, 0x4300));  // 3, 3.5
  EXPECT_EQ(sample.find("half")->type, ElementType::kFloat16);
  EXPECT_EQ(sample.find("flag")->bytes, "\1");
  EXPECT_THAT(sample.find("name")->strings, ElementsAre("画像🙂"));
  EXPECT_THAT(sample.find("code")->strings, ElementsAre("def"));
  EXPECT_THAT(values_of<float>(*sample.find("scale")), ElementsAre(0.25F));
  EXPECT_EQ(source.read(1).find("y")->dims, Dims{});
  EXPECT_THAT(values_of<float>(*source.read(0).find("scale")), ElementsAre(0.25F));
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenNpzTest, testing::Values("stored.npz", "compressed.npz"),
                         [](const auto& param) { return std::string(param.param).substr(0, 6); });

TEST_F(NpzSourceTest, ListsArraysWithoutReadingThem) {
  const auto arrays = NpzSource::list(golden_archive("lengths.npz"));
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[1].name, "calib");
  EXPECT_EQ(describe(arrays[1].type, arrays[1].dims), "float32[5,2]");
  EXPECT_TRUE(arrays[1].problem.empty());
}

TEST_F(NpzSourceTest, ListsWhatItCannotReadWithTheReason) {
  const auto path = save(ZipBytes()
                             .add("o.npy", npy_bytes("|O", "(1,)", "pickle"))
                             .add("readme.txt", "hello")
                             .add("x.npy", npy_bytes("|u1", "(1,)", "x")));
  const auto arrays = NpzSource::list(path);
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_THAT(arrays[0].problem, HasSubstr("array 'o': contains Python objects"));
  EXPECT_EQ(NpzSource(path, {"x"}).size(), 1U);
  EXPECT_THAT(refusal(path), HasSubstr("array 'o': contains Python objects"));
}

TEST_F(NpzSourceTest, OnlyArraysThatAreUsedMustAgree) {
  const auto path = golden_archive("lengths.npz");
  EXPECT_THAT(refusal(path), EndsWith("lengths.npz: its arrays differ in length: x float32[3,2], calib "
                                      "float32[5,2]; name the ones to use"));
  EXPECT_THAT(refusal(path, {"x", "calib"}),
              EndsWith("'x' has 3 samples, but 'calib' has 5; name the arrays that belong together"));
  EXPECT_EQ(NpzSource(path, {"calib"}).size(), 5U);
  EXPECT_EQ(NpzSource(path, {"x", "x"}).fields().size(), 1U);
  EXPECT_THAT(refusal(path, {"z"}), EndsWith("has no array 'z'; arrays: x float32[3,2], calib float32[5,2]"));
}

TEST_F(NpzSourceTest, FieldsComeInTheOrderOfTheKeys) {
  NpzSource source(golden_archive("stored.npz"), {"y", "x"});
  EXPECT_EQ(source.fields()[0].name, "y");
  EXPECT_EQ(source.read(0).fields[1].name, "x");
}

TEST_F(NpzSourceTest, AnArchiveMayHaveNoSamples) {
  NpzSource source(golden_archive("empty.npz"));
  EXPECT_EQ(source.size(), 0U);
  EXPECT_EQ(source.fields()[0].dims, Dims{3});
  EXPECT_EQ(error_of([&] { source.read(0); }).code(), ErrorCode::kInternal);
}

TEST_F(NpzSourceTest, ConstantsAloneAreOneSample) {
  NpzSource source(golden_archive("compressed.npz"), {"scale"});
  EXPECT_EQ(source.size(), 1U);
  EXPECT_THAT(values_of<float>(source.read(0).fields[0].tensor), ElementsAre(0.25F));
}

TEST_F(NpzSourceTest, FieldsWithoutValuesAreReadBesideOthers) {
  const auto path = save(ZipBytes()
                             .add("past.npy", npy_bytes("<f4", "(2, 4, 0)", ""))
                             .add("x.npy", npy_bytes("|u1", "(2,)", "ab")));
  NpzSource source(path);
  EXPECT_EQ(source.read(1).find("past")->dims, (Dims{4, 0}));
  EXPECT_THAT(refusal(path, {"past"}), EndsWith("'past' has samples without any values"));
}

TEST_F(NpzSourceTest, ReadsTheSameInAnyOrder) {
  constexpr std::size_t kSamples = 200, kValues = 500;
  std::vector<std::uint32_t> values(kSamples * kValues);
  std::iota(values.begin(), values.end(), 0U);
  const std::string npy = npy_bytes("<u4", "(200, 500)", bytes_of(values));
  for (const bool is_deflated : {false, true}) {
    NpzSource source(save(ZipBytes().add("x.npy", npy, is_deflated)));
    std::mt19937 random(9);
    for (int i = 0; i < 40; ++i) {
      const std::size_t index = random() % kSamples;
      const Sample sample = source.read(index);
      const auto read = values_of<std::uint32_t>(sample.fields[0].tensor);
      ASSERT_EQ(read.size(), kValues);
      EXPECT_EQ(read.front(), index * kValues);
      EXPECT_EQ(read.back(), (index + 1) * kValues - 1);
    }
    for (std::size_t i = 0; i < kSamples; ++i) {
      EXPECT_EQ(values_of<std::uint32_t>(source.read(i).fields[0].tensor).front(), i * kValues);
    }
  }
}

TEST_F(NpzSourceTest, FindsDamageInTheValues) {
  std::string bytes = ZipBytes().add("x.npy", npy_bytes("|u1", "(3,)", "abc"), false).bytes();
  bytes[bytes.find("abc") + 1] = 'B';
  NpzSource source(save(bytes));
  source.read(0);
  source.read(1);
  EXPECT_THAT(error_of([&] { source.read(2); }).what(),
              HasSubstr("array 'x': is damaged: its checksum is wrong"));
}

TEST_F(NpzSourceTest, RefusesAnArchiveWithoutArrays) {
  EXPECT_THAT(refusal(save(ZipBytes().add("readme.txt", "x"))), EndsWith("a.npz: has no arrays"));
  EXPECT_THAT(refusal(save(ZipBytes())), EndsWith("has no arrays"));
  EXPECT_EQ(error_of([&] { NpzSource(folder / "none.npz"); }).code(), ErrorCode::kIo);
}

TEST_F(NpzSourceTest, RefusesMoreArraysThanAModelHasInputs) {
  ZipBytes zip;
  for (int i = 0; i < 1025; ++i) zip.add(fmt::format("{}.npy", i), npy_bytes("|u1", "(1,)", "x"), false);
  const auto path = save(zip);
  EXPECT_THAT(refusal(path), HasSubstr("has 1025 arrays, more than 1024; name the ones to use"));
  EXPECT_EQ(NpzSource(path, {"1024"}).size(), 1U);
}

// A deflate stream of a few megabytes that inflates to a header and `mib` MiB of zeros.
ZipEntryBytes bomb(const std::string& npy_header, std::uint64_t mib) {
  const std::string zeros(1 << 20, '\0');
  const std::string block = deflated(zeros, Z_FULL_FLUSH);
  ZipEntryBytes entry{.name = "x.npy", .stored = deflated(npy_header, Z_FULL_FLUSH), .method = 8};
  auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(npy_header.data()), npy_header.size());
  const auto zeros_checksum = crc32_z(0, reinterpret_cast<const Bytef*>(zeros.data()), zeros.size());
  for (std::uint64_t i = 0; i < mib; ++i) {
    entry.stored += block;
    checksum = crc32_combine(checksum, zeros_checksum, static_cast<z_off_t>(zeros.size()));
  }
  entry.stored += deflated("");
  entry.size = npy_header.size() + (mib << 20U);
  entry.checksum = static_cast<std::uint32_t>(checksum);
  return entry;
}

TEST_F(NpzSourceTest, BombsTakeNoMemory) {
  const auto one_sample = save(ZipBytes().add(bomb(npy_bytes("|u1", "(1, 3221225472)", ""), 3072)));
  const long before = peak_memory_in_mib();
  EXPECT_THAT(refusal(one_sample), HasSubstr("the first axis must count the samples"));
  const auto many_samples = save(ZipBytes().add(bomb(npy_bytes("|u1", "(3221225472,)", ""), 3072)));
  NpzSource source(many_samples);
  EXPECT_EQ(source.size(), 3221225472U);
  EXPECT_EQ(source.read(50'000'000).fields[0].tensor.bytes, std::string(1, '\0'));
  const auto strings = save(ZipBytes().add(bomb(npy_bytes("|S1", "(2, 33554432)", ""), 64)));
  EXPECT_THAT(refusal(strings), HasSubstr("is too large"));
  EXPECT_LT(peak_memory_in_mib() - before, 60);
}

TEST_F(NpzSourceTest, ALieAboutTheSizeTakesNoMemory) {
  ZipEntryBytes entry = bomb(npy_bytes("|u1", "(1, 1000)", ""), 1024);
  entry.size = npy_bytes("|u1", "(1, 1000)", "").size() + 1000;
  const auto path = save(ZipBytes().add(entry));
  const long before = peak_memory_in_mib();
  NpzSource more(path);
  EXPECT_THAT(error_of([&] { more.read(0); }).what(), HasSubstr("inflates to more than"));
  // The header declares 900 MiB, but there are 8: memory must grow only with the bytes that exist.
  entry = bomb(npy_bytes("|u1", "(1, 943718400)", ""), 8);
  entry.stored += std::string(1'000'000, 'x');
  entry.size += std::uint64_t{892} << 20U;
  NpzSource less(save(ZipBytes().add(entry)));
  EXPECT_THAT(error_of([&] { less.read(0); }).what(), HasSubstr("inflates to less than"));
  EXPECT_LT(peak_memory_in_mib() - before, 100);
}

TEST_F(NpzSourceTest, ReadsZip64) {
  const std::string npy = npy_bytes("|u1", "(3,)", "abc");
  const ZipEntryBytes entry{
      .name = "x.npy", .stored = npy, .size = npy.size(), .checksum = checksum_of(npy), .is_zip64 = true};
  NpzSource source(save(ZipBytes().add(entry).end_with_zip64()));
  EXPECT_EQ(source.read(2).fields[0].tensor.bytes, "c");
}

TEST_F(NpzSourceTest, SurvivesDamage) {
  const std::string bytes = ZipBytes()
                                .add("x.npy", npy_bytes("<f4", "(3, 2)", std::string(24, 'x')))
                                .add("y.npy", npy_bytes("<U2", "(3,)", std::string(24, '\0')), false)
                                .bytes();
  const auto read_all = [this](const std::string& damaged) {
    const auto path = save(damaged);
    for (const ArrayDescription& array : NpzSource::list(path)) describe(array.type, array.dims);
    NpzSource source(path);
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(source.size(), 10); ++i) source.read(i);
  };
  expect_truncations_refused(bytes, read_all);
  expect_safe(bytes, read_all, 2000);
}

TEST_F(NpzSourceTest, ANpyFileIsOneFieldNamedAfterIt) {
  write_file(folder / "tokens.npy", npy_bytes("<i2", "(2, 2)", bytes_of<std::int16_t>({1, 2, 3, 4})));
  NpySource source(folder / "tokens.npy");
  EXPECT_EQ(source.size(), 2U);
  EXPECT_EQ(source.fields()[0].name, "tokens");
  const Sample sample = source.read(1);
  EXPECT_EQ(sample.name, "tokens.npy[1]");
  EXPECT_THAT(values_of<std::int16_t>(*sample.find("tokens")), ElementsAre(3, 4));
  EXPECT_THAT(values_of<std::int16_t>(*source.read(0).find("tokens")), ElementsAre(1, 2));
  EXPECT_THAT(error_of([&] { NpySource(golden_archive("stored.npz")); }).what(),
              HasSubstr("stored.npz: is not a .npy file"));
}

}  // namespace
}  // namespace ounce::data
