#include "report/html/page.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"

namespace ounce::report::html {
namespace {

using nlohmann::ordered_json;
using test::error_of;
using testing::HasSubstr;
using testing::Not;

ordered_json verify_document(const std::string& name) {
  return {
      {"schema_version", 2},
      {"verb", "verify"},
      {"command", "ounce verify " + name},
      {"errors", ordered_json::array()},
      {"results",
       {{{"reference", name},
         {"candidate", name},
         {"passed", true},
         {"verdict", "passed: " + name},
         {"samples", 4},
         {"outputs",
          {{{"name", name},
            {"judged", true},
            {"sqnr_db", 40.5},
            {"top1_agreement", 0.75},
            {"changed_answers", {{{"from", 1}, {"to", 2}, {"count", 3}}}}}}},
         {"worst",
          {{{"sample", name},
            {"output", name},
            {"max_abs_diff", 0.5},
            {"answers", {{{"class", 1}, {"reference", 2.5}, {"candidate", 2.25}}}},
            {"picture", {{"input", name}, {"png", name}, {"lowest", {-1, -2}}, {"highest", {1, 2}}}}}}}}}}};
}

std::string drawn(const ordered_json& document) { return page({{"run.json", document}}); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Page, TheVerdictStandsOnTop) {
  const std::string html = drawn(verify_document("small.onnx"));
  EXPECT_THAT(html, HasSubstr("</span> passed</span> small.onnx</h1>"));
  ordered_json failed = verify_document("small.onnx");
  failed["results"][0]["passed"] = false;
  EXPECT_THAT(drawn(failed), HasSubstr("</span> failed</span> small.onnx</h1>"));
}

TEST(Page, NamesCannotBecomeMarkup) {
  const std::string plain_page = drawn(verify_document("small.onnx"));
  for (const std::string& name :
       {std::string("</script><script>alert(1)</script>"), std::string("\"><img src=x onerror=alert(1)>"),
        std::string("</title></style><svg onload=alert(1)>"), std::string("' onmouseover='x"),
        std::string("<!--"),
        std::string("\xe2\x80\xae"
                    "evil"),
        std::string("\x01\x02\x1b]0;x\x07"), std::string("\xff\xfe"), std::string(1'000'000, '<')}) {
    const std::string html = drawn(verify_document(name));
    EXPECT_EQ(count(html, "<"), count(plain_page, "<")) << name.substr(0, 40);
    EXPECT_EQ(count(html, "<script>"), 1U);
    EXPECT_THAT(html, Not(HasSubstr("\xe2\x80\xae")));
    EXPECT_LT(html.size(), plain_page.size() + 10'000'000U);
  }
}

TEST(Page, APictureThatIsNoBase64IsNotShown) {
  EXPECT_THAT(drawn(verify_document("x\" onerror=\"y")), Not(HasSubstr("<img")));
  EXPECT_THAT(drawn(verify_document("Zm9v")), HasSubstr("<img src=\"data:image/png;base64,Zm9v\""));
}

TEST(Page, NothingIsLoaded) {
  const std::string html = drawn(verify_document("small.onnx"));
  EXPECT_THAT(html, HasSubstr("default-src &#39;none&#39;"));
  for (const char* reach : {"http:", "https:", "url(", "@import", "src=\"/", "<link", "<iframe"})
    EXPECT_THAT(html, Not(HasSubstr(reach))) << reach;
}

TEST(Page, TheStyleSheetIsAsItWasWritten) {
  const std::string html = drawn(verify_document("small.onnx"));
  EXPECT_THAT(html, HasSubstr("@media (prefers-color-scheme: dark) {"));
  EXPECT_THAT(html, HasSubstr("@media print {"));
}

TEST(Page, DocumentsOfAnyShapeAreDrawn) {
  for (const std::string& verb : drawn_verbs()) {
    EXPECT_THAT(drawn({{"verb", verb}}), HasSubstr("</html>")) << verb;
    for (const ordered_json& strange :
         {ordered_json(nullptr), ordered_json(3), ordered_json("x"), ordered_json(true),
          ordered_json::array({1, "x", nullptr}), ordered_json::object({{"name", 3}})}) {
      ordered_json document = {{"verb", verb}};
      for (const char* key : {"results", "errors", "command"}) document[key] = strange;
      EXPECT_THAT(drawn(document), HasSubstr("</html>")) << verb << strange;
      ordered_json entry;
      for (const char* key :
           {"model",   "candidate", "error",    "output", "trial",      "tensors", "activations",
            "nodes",   "outputs",   "metrics",  "worst",  "edge_cases", "cpus",    "batches",
            "groups",  "trials",    "best",     "layers", "methods",    "risks",   "commands",
            "targets", "hints",     "baseline", "family", "exclude"})
        entry[key] = strange;
      for (const char* key : {"results", "errors"}) document[key] = ordered_json::array({entry});
      EXPECT_THAT(drawn(document), HasSubstr("</html>")) << verb << strange;
    }
  }
}

// Short documents that would make long pages without limits.
TEST(Page, AHundredThousandNothingsAreNotDrawnOneByOne) {
  const ordered_json nothings = std::vector<int>(100'000);
  for (const std::string& verb : drawn_verbs()) {
    const std::string html = drawn({{"verb", verb}, {"results", nothings}});
    EXPECT_LT(html.size(), 10'000'000U) << verb;
    if (verb == "bench" || verb == "diff") continue;  // these have one section
    EXPECT_THAT(html, HasSubstr("99500 more ")) << verb;
  }
}

TEST(Page, WhatIsNotDrawnStillFails) {
  ordered_json candidates = std::vector<ordered_json>(600, {{"passed", true}, {"verdict", "fine"}});
  EXPECT_THAT(drawn({{"verb", "verify"}, {"results", candidates}}), HasSubstr("</span> passed</span>"));
  candidates[550]["passed"] = false;
  const std::string html = drawn({{"verb", "verify"}, {"results", candidates}});
  EXPECT_THAT(html, HasSubstr("</span> failed</span>"));
  EXPECT_THAT(html, HasSubstr("100 more are not shown, 1 of them failed"));
}

TEST(Page, ModelsTimesTargetsAreNotDrawn) {
  ordered_json models;
  for (int i = 0; i < 2000; ++i)
    models.push_back(
        {{"targets", {{{"target", std::to_string(i)}, {"verdict", i == 1999 ? "fails" : "runs"}}}}});
  const std::string html = drawn({{"verb", "check"}, {"results", models}});
  EXPECT_LT(html.size(), 10'000'000U);
  EXPECT_THAT(html, HasSubstr("the first 40 targets"));
  EXPECT_THAT(html, HasSubstr("1 of 2000 checks failed"));
}

TEST(Page, SizesTimesBatchesAreNotDrawn) {
  ordered_json batches;
  for (int i = 0; i < 2000; ++i) batches.push_back({{"batch", i}, {"latency", {{"quantiles_ns", {1, 2}}}}});
  const std::string html = drawn({{"verb", "bench"}, {"results", {{{"models", {{{"batches", batches}}}}}}}});
  EXPECT_EQ(count(html, "<polyline"), 20U);
  EXPECT_THAT(html, HasSubstr("The charts show the first 20 of 2000 batch sizes"));
}

TEST(Page, ARunWithoutPartsDoesNotSignThoseOfAnother) {
  const std::string html = page({{"a.json", verify_document("a.onnx")},
                                 {"empty.json", {{"verb", "verify"}, {"command", "ounce verify nothing"}}}});
  EXPECT_THAT(html, HasSubstr("Source: a.json"));
  EXPECT_THAT(html, Not(HasSubstr("Source: empty.json")));
}

TEST(Page, SeveralRunsAreCompared) {
  const std::string html =
      page({{"a.json", verify_document("a.onnx")}, {"b.json", verify_document("b.onnx")}});
  EXPECT_THAT(html, HasSubstr("All runs in this report"));
  EXPECT_THAT(html, HasSubstr("2 of 2 results"));
}

TEST(Page, WhatIsNoRunIsRefused) {
  EXPECT_EQ(error_of([] { return drawn({{"verb", "inspect"}}); }).code(), ErrorCode::kBadInput);
  EXPECT_EQ(error_of([] { return drawn(ordered_json::array()); }).code(), ErrorCode::kBadInput);
}

ordered_json tune_document(const ordered_json& trials) {
  return {
      {"verb", "tune"},
      {"results", {{{"model", "m.onnx"}, {"passed", true}, {"best", {{"name", "w8"}}}, {"trials", trials}}}}};
}

TEST(Page, ARejectedModelHasItsReason) {
  const std::string html = drawn(tune_document(
      {{{"name", "w8"}, {"ratio", 0.26}, {"sqnr_db", 40}, {"passed", true}, {"reason", nullptr}},
       {{"name", "int8"},
        {"ratio", 0.27},
        {"sqnr_db", 30},
        {"passed", false},
        {"reason", "300 of 307 samples needed at 90 % confidence"}},
       {{"name", "w16"},
        {"ratio", 0.5},
        {"sqnr_db", 60},
        {"passed", true},
        {"reason", "slower than the original (0.80 ×)"}}}));
  EXPECT_THAT(html, HasSubstr("</span> failed: 300 of 307 samples needed at 90 % confidence</span>"));
  EXPECT_THAT(html, HasSubstr("</span> passed, but slower than the original (0.80 ×)</span>"));
  EXPECT_THAT(html, HasSubstr("</span> passed</span>"));
}

TEST(Page, SizesThatAreNearlyTheSameAreDrawnCloseTogether) {
  const ordered_json trials = {{{"name", "w8"}, {"ratio", 0.26215}, {"sqnr_db", 40}, {"passed", true}},
                               {{"name", "int8"}, {"ratio", 0.26230}, {"sqnr_db", 40.1}, {"passed", true}}};
  const std::string html = drawn(tune_document(trials));
  EXPECT_THAT(html, HasSubstr("% of the original size"));
  EXPECT_THAT(html, Not(HasSubstr("tick middle\">26.")));
  EXPECT_THAT(html, HasSubstr(">30</text>"));
}

TEST(Page, SpeedsOfASearchAreDrawnIfTheyWereMeasured) {
  ordered_json trials = {{{"name", "w8"}, {"ratio", 0.26}, {"sqnr_db", 40}, {"passed", true}},
                         {{"name", "int8"}, {"ratio", 0.27}, {"sqnr_db", 35}, {"passed", true}}};
  EXPECT_THAT(drawn(tune_document(trials)), Not(HasSubstr("Size and speed")));
  trials[1]["speed_up"] = {{"ratio", 2.5}};
  const std::string html = drawn(tune_document(trials));
  EXPECT_THAT(html, HasSubstr("Size and speed of each candidate"));
  EXPECT_THAT(html, HasSubstr("speed (× the original)"));
}

ordered_json advise_document(const ordered_json& method) {
  return {{"verb", "advise"}, {"results", {{{"model", "m.onnx"}, {"methods", {method}}}}}};
}

TEST(Page, AMethodThatWasNotTimedIsNotSaidToBeAsFast) {
  ordered_json method = {{"method", "w8"},  {"measured", true},    {"ratio", 0.25},    {"speed_up", nullptr},
                         {"quality", "ok"}, {"acceptable", false}, {"uncertain", true}};
  const std::string html = drawn(advise_document(method));
  EXPECT_THAT(html, HasSubstr("not measured"));
  EXPECT_THAT(html, Not(HasSubstr("no measurable difference")));
  EXPECT_THAT(html, HasSubstr(">uncertain: ok</span>"));
  method["speed_up"] = {{"ratio", 11.7}, {"measurable", false}, {"reliable", false}};
  EXPECT_THAT(drawn(advise_document(method)), HasSubstr("machine too busy"));
}

TEST(Page, LongPlansAreCut) {
  ordered_json tensors = ordered_json::array();
  for (int i = 0; i < 5000; ++i)
    tensors.push_back({{"name", std::to_string(i)}, {"stored", true}, {"sqnr_db", 40}});
  const std::string html =
      drawn({{"verb", "quantize"}, {"results", {{{"model", "m"}, {"tensors", tensors}}}}});
  EXPECT_THAT(html, HasSubstr("and 3000 more rows"));
}

}  // namespace
}  // namespace ounce::report::html
