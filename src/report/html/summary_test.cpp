#include "report/html/summary.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include "report/html/baseline.h"

namespace ounce::report::html {
namespace {

Json verify_document(double sqnr_db, bool passed = true) {
  return {{"schema_version", 2},
          {"verb", "verify"},
          {"command", "ounce verify m.onnx m.w8.onnx"},
          {"results", Json::array({{{"candidate", "out/m.w8.onnx"},
                                    {"reference", "m.onnx"},
                                    {"passed", passed},
                                    {"verdict", "failed: <b>'x|y'</b> is bad"},
                                    {"worst_sqnr_db", sqnr_db},
                                    {"reference_bytes", 1000},
                                    {"candidate_bytes", 300}}})},
          {"errors", Json::array()}};
}

TEST(Summary, WritesAJunitCasePerResult) {
  const std::string passed = junit_of(verify_document(40), 0);
  EXPECT_TRUE(passed.starts_with(kJunitStart));
  EXPECT_NE(passed.find("tests=\"1\" failures=\"0\" errors=\"0\""), passed.npos) << passed;
  EXPECT_NE(passed.find("<testcase classname=\"ounce.verify\" name=\"m.w8.onnx\">"), passed.npos) << passed;
  const std::string failed = junit_of(verify_document(10, false), 1);
  EXPECT_NE(failed.find("failures=\"1\""), failed.npos);
  EXPECT_NE(failed.find("&lt;b&gt;'x|y'&lt;/b&gt;"), failed.npos) << failed;
}

TEST(Summary, ReportsErrorsAndFailedRuns) {
  Json document = verify_document(40);
  document["errors"].push_back({{"model", "n.onnx"}, {"message", "cannot open"}});
  EXPECT_NE(junit_of(document, 4).find("errors=\"1\""), std::string::npos);
  // --fail-on of check fails a run whose results are fine.
  EXPECT_NE(junit_of(verify_document(40), 3).find("<failure message=\"exit code 3\">"), std::string::npos);
}

TEST(Summary, EscapesMarkdown) {
  const std::string text = markdown_of(verify_document(10, false), 1);
  EXPECT_TRUE(text.starts_with(kMarkdownStart));
  EXPECT_NE(text.find("\\<b\\>'x\\|y'\\</b\\>"), text.npos) << text;
}

TEST(Baseline, FailsWhereAFigureIsWorse) {
  const Json same = compare_with(verify_document(40), verify_document(40), 0.01);
  EXPECT_FALSE(is_worse(same));
  EXPECT_EQ(same.size(), 2U) << same.dump();  // SQNR and size
  EXPECT_FALSE(is_worse(compare_with(verify_document(40), verify_document(39.7), 0.01)));
  const Json worse = compare_with(verify_document(40), verify_document(39.5), 0.01);
  EXPECT_TRUE(is_worse(worse));
  EXPECT_NE(baseline_text(worse).find("output SQNR in dB is 39.5, and was 40 (39.6 allowed): worse"),
            std::string::npos)
      << baseline_text(worse);
  EXPECT_FALSE(is_worse(compare_with(verify_document(40), verify_document(50), 0.01)));
}

TEST(Baseline, NeedsACommonModel) {
  Json other = verify_document(40);
  other["results"][0]["candidate"] = "n.onnx";
  EXPECT_THROW(compare_with(other, verify_document(40), 0.01), Error);
}

}  // namespace
}  // namespace ounce::report::html
