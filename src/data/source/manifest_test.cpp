#include "data/source/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/mutations.h"
#include "support/temporary_folder.h"

namespace ounce::data {
namespace {

using namespace test;
using ounce::test::error_of;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class ManifestTest : public testing::Test {
 protected:
  Manifest open(const std::string& name, const std::string& text) const {
    ounce::test::write_file(folder / name, text);
    return Manifest(folder / name);
  }
  Manifest csv(const std::string& text) const { return open("list.csv", text); }
  Manifest jsonl(const std::string& text) const { return open("list.jsonl", text); }
  // The tensor of a row with a single value.
  Tensor json_value(const std::string& value) const {
    return jsonl("{\"v\": " + value + "}\n").read(0).at(0).tensor;
  }
  Tensor csv_value(const std::string& value) const { return csv("v\n" + value + "\n").read(0).at(0).tensor; }
  static std::string refusal_of(const Manifest& manifest, std::uint64_t row) {
    return error_of([&] { manifest.read(row); }).what();
  }
  template <class Open>
  static std::string refusal(Open&& open) {
    const Error error = error_of(open);
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.what();
  }

  ounce::test::TemporaryFolder folder;
};

TEST_F(ManifestTest, ReadsCsvRowsByColumn) {
  const Manifest list = csv("file,label,score\na.jpg,3,0.5\n007,-4,x y\n");
  EXPECT_EQ(list.size(), 2U);
  EXPECT_THAT(list.columns(), ElementsAre("file", "label", "score"));
  EXPECT_EQ(list.file_column(), "file");
  const auto row = list.read(0);
  EXPECT_EQ(row[0].name, "file");
  EXPECT_THAT(row[0].tensor.strings, ElementsAre("a.jpg"));
  EXPECT_EQ(row[1].tensor.type, ElementType::kInt64);
  EXPECT_THAT(values_of<std::int64_t>(row[1].tensor), ElementsAre(3));
  EXPECT_EQ(row[2].tensor.type, ElementType::kFloat);
  EXPECT_THAT(values_of<float>(row[2].tensor), ElementsAre(0.5F));
  const auto second = list.read(1);
  EXPECT_THAT(second[0].tensor.strings, ElementsAre("007"));
  EXPECT_THAT(values_of<std::int64_t>(second[1].tensor), ElementsAre(-4));
  EXPECT_THAT(second[2].tensor.strings, ElementsAre("x y"));
  EXPECT_EQ(error_of([&] { list.read(2); }).code(), ErrorCode::kInternal);
}

TEST_F(ManifestTest, ReadsQuotedCells) {
  const Manifest list =
      csv("file,text\r\n\"a,b.jpg\",\"two\r\nlines\"\r\nc,\"say \"\"no\"\"\"\r\nd,5\" long\r\n\"\",\"\"\"\"");
  ASSERT_EQ(list.size(), 4U);
  EXPECT_THAT(list.read(0)[0].tensor.strings, ElementsAre("a,b.jpg"));
  EXPECT_THAT(list.read(0)[1].tensor.strings, ElementsAre("two\r\nlines"));
  EXPECT_THAT(list.read(1)[1].tensor.strings, ElementsAre("say \"no\""));
  EXPECT_THAT(list.read(2)[1].tensor.strings, ElementsAre("5\" long"));
  EXPECT_THAT(list.read(3)[0].tensor.strings, ElementsAre(""));
  EXPECT_THAT(list.read(3)[1].tensor.strings, ElementsAre("\""));
  EXPECT_THAT(list.place_of(1), EndsWith("list.csv, line 4"));
}

TEST_F(ManifestTest, TakesByteOrderMarksBlankLinesAndMissingLineEnds) {
  const Manifest list = csv("\xef\xbb\xbfpath,y\r\n\r\na,1\r\n  \r\nb,2");
  EXPECT_EQ(list.file_column(), "path");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_THAT(values_of<std::int64_t>(list.read(1)[1].tensor), ElementsAre(2));
  EXPECT_EQ(csv("file\n").size(), 0U);
}

TEST_F(ManifestTest, KnowsIntegersDecimalsAndText) {
  EXPECT_THAT(values_of<std::int64_t>(csv_value("9223372036854775807")), ElementsAre(INT64_MAX));
  EXPECT_THAT(values_of<std::int64_t>(csv_value(" +12 ")), ElementsAre(12));
  EXPECT_THAT(values_of<float>(csv_value("-1.5e2")), ElementsAre(-150.0F));
  EXPECT_THAT(values_of<float>(csv_value(".5")), ElementsAre(0.5F));
  EXPECT_THAT(values_of<float>(csv_value("1e-300")), ElementsAre(0.0F));
  for (const char* text : {"9223372036854775808", "1e39", "1e400", "nan", "inf", "-", ".", "e", "1-2", "0x10",
                           "1.2.3", "2024-01-02"}) {
    EXPECT_THAT(csv_value(text).strings, ElementsAre(text));
  }
}

TEST_F(ManifestTest, FindsTheColumnOfFiles) {
  EXPECT_EQ(csv("label,Filename\n").file_column(), "Filename");
  EXPECT_EQ(csv("image,file\n").file_column(), "file");
  EXPECT_EQ(csv("x,y\n").file_column(), std::nullopt);
  EXPECT_EQ(jsonl("{\"image\": [1, 2], \"audio\": \"a.wav\"}\n").file_column(), "audio");
}

TEST_F(ManifestTest, NamesColumnsThatPandasLeavesWithoutAName) {
  EXPECT_THAT(csv(",file\n0,a\n").columns(), ElementsAre("column_1", "file"));
}

TEST_F(ManifestTest, CsvErrorsNameTheLine) {
  const Manifest list = csv("file,label\na,1\nb\n\"c\"d,1\n");
  EXPECT_THAT(refusal_of(list, 1),
              EndsWith("list.csv, line 3: has 1 cells, but the first line has 2 column names"));
  EXPECT_THAT(refusal_of(list, 2), HasSubstr("line 4: unexpected text after a closing quote"));
  EXPECT_THAT(refusal([&] { csv("file\na\n\"b\nc\n"); }),
              EndsWith("line 3: a quoted cell has no closing quote"));
  EXPECT_THAT(refusal([&] { csv("a,b,a\n"); }), EndsWith("line 1: two columns are named 'a'"));
  EXPECT_THAT(refusal([&] { csv("\"a\nb\",c\n"); }), HasSubstr("control characters"));
  EXPECT_THAT(refusal([&] { csv("\n \r\n"); }), EndsWith("list.csv: the list is empty"));
  EXPECT_THAT(refusal([&] { csv(""); }), EndsWith("list.csv: the list is empty"));
}

TEST_F(ManifestTest, ReadsJsonLines) {
  const Manifest list =
      jsonl("{\"file\": \"a.jpg\", \"label\": 3}\n\n  {\"file\": \"b.jpg\", \"label\": null}");
  EXPECT_EQ(list.size(), 2U);
  EXPECT_THAT(list.columns(), ElementsAre("file", "label"));
  EXPECT_EQ(list.file_column(), "file");
  EXPECT_THAT(values_of<std::int64_t>(list.read(0)[1].tensor), ElementsAre(3));
  EXPECT_EQ(list.read(1).size(), 1U);
  EXPECT_EQ(open("list.txt", "{\"file\": \"a\"}").size(), 1U);
}

TEST_F(ManifestTest, JsonValuesBecomeTensors) {
  EXPECT_THAT(values_of<float>(json_value("0.5")), ElementsAre(0.5F));
  EXPECT_EQ(json_value("true").type, ElementType::kBool);
  EXPECT_EQ(json_value("[true, false]").bytes, std::string("\1\0", 2));
  const Tensor nested = json_value("[[1, 2, 3], [4, 5, -6]]");
  EXPECT_EQ(nested.dims, (Dims{2, 3}));
  EXPECT_THAT(values_of<std::int64_t>(nested), ElementsAre(1, 2, 3, 4, 5, -6));
  EXPECT_THAT(values_of<float>(json_value("[1, 2.5]")), ElementsAre(1.0F, 2.5F));
  EXPECT_THAT(json_value("[\"a\", \"ü\\n\"]").strings, ElementsAre("a", "ü\n"));
  EXPECT_EQ(describe(json_value("[]").type, json_value("[]").dims), "float32[0]");
  EXPECT_EQ(json_value("[[], []]").dims, (Dims{2, 0}));
  EXPECT_THAT(json_value("{\"a\": [1, null]}").strings, ElementsAre("{\"a\":[1,null]}"));
  EXPECT_THAT(json_value("[{\"a\": 1}]").strings, ElementsAre("[{\"a\":1}]"));
}

TEST_F(ManifestTest, JsonErrorsNameTheLine) {
  const std::string good = "{\"v\": 1}\n";
  const auto refusal_of_value = [&](const std::string& line) {
    return refusal_of(jsonl(good + "\n" + line), 1);
  };
  EXPECT_THAT(refusal_of_value("{\"v\": [[1, 2], [3]]}"), HasSubstr("list.jsonl, line 3: 'v' is ragged"));
  EXPECT_THAT(refusal_of_value("{\"v\": [1, [2]]}"), HasSubstr("ragged"));
  EXPECT_THAT(refusal_of_value("{\"v\": [[1], 2]}"), HasSubstr("ragged"));
  EXPECT_THAT(refusal_of_value("{\"v\": [[], [1]]}"), HasSubstr("ragged"));
  EXPECT_THAT(refusal_of_value("{\"v\": [1, \"a\"]}"), HasSubstr("mixes"));
  EXPECT_THAT(refusal_of_value("{\"v\": [true, 1]}"), HasSubstr("mixes"));
  EXPECT_THAT(refusal_of_value("{\"v\": 18446744073709551615}"), HasSubstr("exceeds int64"));
  EXPECT_THAT(refusal_of_value("{\"v\": 1e39}"), HasSubstr("exceeds float32"));
  EXPECT_THAT(refusal_of_value("{\"v\": 1e999}"), HasSubstr("out of range"));
  EXPECT_THAT(refusal_of_value("{\"v\": }"), HasSubstr("line 3: is not JSON (byte 7)"));
  EXPECT_THAT(refusal_of_value("[1]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(refusal_of_value("{\"a\\nb\": 1}"), HasSubstr("control characters"));
}

TEST_F(ManifestTest, RefusesDeepNesting) {
  const std::string deep = "{\"v\": " + std::string(1'000'000, '[');
  EXPECT_THAT(refusal([&] { jsonl(deep); }), HasSubstr("nested more than 16 deep"));
  EXPECT_EQ(json_value(std::string(15, '[') + "1" + std::string(15, ']')).dims.size(), 15U);
  EXPECT_THAT(json_value("\"" + std::string(100, '[') + "\\\"[\"").strings.at(0), HasSubstr("[[[\"["));
}

TEST_F(ManifestTest, SurvivesDamage) {
  const auto read_all = [](const Manifest& list) {
    for (std::uint64_t row = 0; row < list.size(); ++row)
      is_refused("", [&](const auto&) { list.read(row); });
  };
  expect_safe(
      "file,\"la\"\"bel\",x\r\n\"a,b\",1,0.5\n\"c\nd\",-2,text\n",
      [&](const std::string& text) { read_all(csv(text)); }, 1500);
  expect_safe(
      "{\"file\": \"a\", \"v\": [[1, 2.5], [3, -4e3]], \"b\": [true]}\n{\"s\": [\"x\", \"\\u00e9\"]}\n",
      [&](const std::string& text) { read_all(jsonl(text)); }, 1500);
}

}  // namespace
}  // namespace ounce::data
