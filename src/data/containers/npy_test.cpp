#include "data/containers/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/archive_bytes.h"
#include "support/error_of.h"
#include "support/mutations.h"
#include "support/temporary_folder.h"

namespace ounce::data {
namespace {

using namespace test;
using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

NpyHeader header_of(const std::string& bytes) {
  MemoryStream stream(bytes, "x.npy");
  return read_npy_header(stream, "x.npy");
}

Tensor read_array(const std::string& bytes) {
  MemoryStream stream(bytes, "x.npy");
  const NpyHeader header = read_npy_header(stream, "x.npy");
  return decode_npy_values(header, header.dims, stream.read(header.data_bytes), "x.npy");
}

Tensor read_golden(const std::string& name) {
  return read_array(ounce::test::read_file(std::string(OUNCE_TEST_GOLDENS) + "/arrays/" + name));
}

std::string array_refusal(const std::string& bytes) {
  const Error error = error_of([&] { read_array(bytes); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  return error.what();
}

std::string golden_refusal(const std::string& name) {
  return error_of([&] { read_golden(name); }).what();
}

TEST(NpyTest, KnowsTheTypesOfNumbers) {
  const std::pair<const char*, ElementType> types[] = {
      {"|b1", ElementType::kBool},    {"|i1", ElementType::kInt8},   {"<i2", ElementType::kInt16},
      {"<i4", ElementType::kInt32},   {"<i8", ElementType::kInt64},  {"|u1", ElementType::kUint8},
      {"<u2", ElementType::kUint16},  {"<u4", ElementType::kUint32}, {"<u8", ElementType::kUint64},
      {"<f2", ElementType::kFloat16}, {"<f4", ElementType::kFloat},  {"<f8", ElementType::kDouble},
  };
  for (const auto& [descr, type] : types) {
    const auto width = static_cast<std::size_t>(descr[2] - '0');
    const NpyHeader header = header_of(npy_bytes(descr, "(3,)", std::string(3 * width, 'x')));
    EXPECT_EQ(header.type, type) << descr;
    EXPECT_EQ(header.dims, Dims{3});
    EXPECT_EQ(header.data_bytes, 3 * width);
  }
}

TEST(NpyTest, ReadsShapesOfEveryRank) {
  EXPECT_EQ(header_of(npy_bytes("|u1", "()", "x")).dims, Dims{});
  EXPECT_EQ(header_of(npy_bytes("|u1", "(2,)", "xy")).dims, Dims{2});
  EXPECT_EQ(header_of(npy_bytes("|u1", "(2L, 1L)", "xy")).dims, (Dims{2, 1}));
  EXPECT_EQ(header_of(npy_bytes("|u1", "(2, 0, 3)", "")).dims, (Dims{2, 0, 3}));
}

TEST(NpyTest, ReadsTheHeaderInAnyOrderAndLayout) {
  const std::string header = "{\"shape\":(2,),'fortran_order' : True,  'descr':'|i1'}     \n";
  EXPECT_EQ(header_of(npy_with_header(header, "xy")).dims, Dims{2});
  EXPECT_EQ(header_of(npy_bytes("<f4", "(2,)", std::string(8, 'x'), 2)).data_offset,
            header_of(npy_bytes("<f4", "(2,)", std::string(8, 'x'), 1)).data_offset + 2);
}

TEST(NpyTest, SwapsBigEndianNumbers) {
  EXPECT_THAT(
      values_of<std::int16_t>(read_array(npy_bytes(">i2", "(2,)", std::string("\x01\x02\xff\xfe", 4)))),
      ElementsAre(0x0102, -2));
  const Tensor tensor = read_golden("big_endian.npy");
  EXPECT_EQ(tensor.dims, (Dims{3, 2}));
  EXPECT_THAT(values_of<float>(tensor), ElementsAre(1.5F, -2.0F, 0.0F, 3e8F, INFINITY, 1e-30F));
}

TEST(NpyTest, ReadsEveryVersion) {
  for (const char* name : {"version2.npy", "version3.npy"}) {
    EXPECT_THAT(values_of<double>(read_golden(name)), ElementsAre(1.5, -2.0, 0.0, 3e8, INFINITY, 1e-30));
  }
}

TEST(NpyTest, GivesStringsAsUtf8WithoutTheirFilling) {
  EXPECT_THAT(read_golden("big_endian_text.npy").strings, ElementsAre("größe", "🙂"));
  const Tensor bytes = read_array(npy_bytes("|S3", "(2,)", std::string("ab\0\0\0\0", 6)));
  EXPECT_EQ(bytes.type, ElementType::kString);
  EXPECT_THAT(bytes.strings, ElementsAre("ab", ""));
  EXPECT_TRUE(bytes.bytes.empty());
  EXPECT_THAT(read_array(npy_bytes("<U1", "()", bytes_of<std::uint32_t>({0x20ac}))).strings,
              ElementsAre("€"));
}

TEST(NpyTest, RefusesStringsThatAreNotUnicode) {
  for (const std::uint32_t c : {0x110000U, 0xd800U, 0xffffffffU}) {
    EXPECT_EQ(array_refusal(npy_bytes("<U1", "()", bytes_of<std::uint32_t>({c}))),
              "x.npy: has a string that is not Unicode");
  }
}

TEST(NpyTest, EveryTrueIsOne) {
  EXPECT_EQ(read_array(npy_bytes("|b1", "(3,)", std::string("\0\x01\xff", 3))).bytes,
            std::string("\0\1\1", 3));
}

TEST(NpyTest, SaysWhatToDoAboutArraysItCannotRead) {
  EXPECT_EQ(golden_refusal("objects.npy"),
            "x.npy: contains Python objects, which only Python can read; save plain arrays");
  EXPECT_THAT(golden_refusal("fortran.npy"), HasSubstr("save it again after numpy.ascontiguousarray"));
  EXPECT_THAT(golden_refusal("complex.npy"), HasSubstr("complex numbers"));
  EXPECT_THAT(golden_refusal("columns.npy"), HasSubstr("save each column as an array of its own"));
  EXPECT_THAT(array_refusal(npy_bytes("<M8[ns]", "()", "12345678")), HasSubstr("the type '<M8[ns]'"));
  EXPECT_THAT(array_refusal(npy_bytes("<V2", "()", "12")), HasSubstr("the type '<V2'"));
  EXPECT_THAT(array_refusal(npy_bytes("<f16", "()", "1234567812345678")), HasSubstr("the type '<f16'"));
}

TEST(NpyTest, RefusesASizeThatIsNotTheShapes) {
  EXPECT_EQ(array_refusal(npy_bytes("<f4", "(2,)", "1234567")),
            "x.npy: has 7 bytes of values, but float32[2] needs 8");
  EXPECT_THAT(array_refusal(npy_bytes("<f4", "(2,)", "123456789")), HasSubstr("has 9 bytes"));
}

TEST(NpyTest, RefusesAbsurdHeaders) {
  for (const char* shape :
       {"(4611686018427387904,)", "(4611686018427387904, 4611686018427387904)", "(9223372036854775807,)",
        "(99999999999999999999,)", "(-1,)", "(2 3)", "2", "(,)", "((2,),)", "(2.0,)", "(2,", "[2]", ""}) {
    array_refusal(npy_bytes("<f4", shape, std::string(8, 'x')));
  }
  for (const char* descr : {"", "<", "<f", "<f-4", "<f4x", "f4", "?", "<U0", "|S0", "<U99999999999999999999",
                            "<U1048577", "<b2", "\n\n\n"}) {
    array_refusal(npy_bytes(descr, "(1,)", std::string(8, 'x')));
  }
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1, ";
  EXPECT_THAT(array_refusal(npy_bytes("|u1", deep + ")", "x")), HasSubstr("more than 64 axes"));
  for (const char* header :
       {"{}", "", "{'descr': '|u1', 'shape': (1,)}", "{'descr'}", "{'shape': (1,), 'shape': (1,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} + 1",
        "{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}", "{'a': 1}", "[[[["}) {
    EXPECT_THAT(array_refusal(npy_with_header(header, "x")), HasSubstr("header is broken")) << header;
  }
}

TEST(NpyTest, BoundsTheLengthOfTheHeader) {
  std::string bytes = npy_bytes("<f4", "(2,)", std::string(8, 'x'), 2);
  bytes.replace(8, 4, "\xff\xff\xff\xff");
  EXPECT_THAT(array_refusal(bytes), HasSubstr("has a header of 4294967295 bytes"));
  bytes[6] = 4;
  EXPECT_THAT(array_refusal(bytes), HasSubstr("of version 4"));
  EXPECT_THAT(array_refusal("PK\x03\x04 something else"), HasSubstr("its first bytes are wrong"));
}

TEST(NpyTest, SurvivesDamage) {
  for (const std::string& bytes : {npy_bytes("<f4", "(2, 3)", std::string(24, 'x')),
                                   npy_bytes(">U2", "(2,)", std::string(16, '\0'), 3)}) {
    expect_truncations_refused(bytes, [](const std::string& damaged) { read_array(damaged); });
    expect_safe(bytes, [](const std::string& damaged) { read_array(damaged); });
  }
}

}  // namespace
}  // namespace ounce::data
