#include "report/html/page.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "report/html/key_figures.h"
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
         {"worst_sqnr_db", 40.5},
         {"class_names", {name, name}},
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

std::string page_of(const ordered_json& document) { return page({{"run.json", document}}); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The JSON that the script of the page reads.
ordered_json data_of(const std::string& html) {
  const std::string_view begin = "id=\"data\">";
  const std::size_t from = html.find(begin) + begin.size();
  return ordered_json::parse(html.substr(from, html.find("</script>", from) - from));
}

TEST(Page, TheVerdictIsFirst) {
  const std::string html = page_of(verify_document("small.onnx"));
  EXPECT_THAT(
      html, HasSubstr("<h1><span class=\"badge good\">✓ passed</span> small.onnx: output SQNR 40.5 dB</h1>"));
  EXPECT_LT(html.find("<h1>"), html.find("<table>"));
  ordered_json failed = verify_document("small.onnx");
  failed["results"][0]["passed"] = false;
  failed["results"][0]["verdict"] = "failed: 12 dB";
  EXPECT_THAT(page_of(failed),
              HasSubstr("<h1><span class=\"badge bad\">✗ failed</span> small.onnx: 12 dB</h1>"));
}

TEST(Page, WithoutScriptsItHasTheKeyFiguresAndTheCommand) {
  ordered_json document = verify_document("small.onnx");
  document["results"][0]["reference_bytes"] = 4000;
  document["results"][0]["candidate_bytes"] = 1000;
  const std::string html = page_of(document);
  EXPECT_THAT(html, HasSubstr("<td>4.00 kB → 1.00 kB</td>"));
  EXPECT_THAT(html, HasSubstr("<td>output SQNR 40.5 dB</td>"));
  EXPECT_THAT(html, HasSubstr("<pre><code>ounce verify small.onnx</code></pre>"));
}

TEST(Page, TheScriptGetsTheDocument) {
  const ordered_json document = verify_document("small.onnx");
  const ordered_json data = data_of(page_of(document));
  EXPECT_EQ(data["runs"][0]["name"], "run.json");
  EXPECT_EQ(data["runs"][0]["document"], document);
  EXPECT_EQ(data["figures"][0]["word"], "passed");
}

TEST(Page, NamesCannotBecomeMarkup) {
  const std::string plain_page = page_of(verify_document("small.onnx"));
  for (const std::string& name :
       {std::string("</script><script>alert(1)</script>"), std::string("\"><img src=x onerror=alert(1)>"),
        std::string("</title></style><svg onload=alert(1)>"), std::string("' onmouseover='x"),
        std::string("<!--"), std::string("{{script}}"),
        std::string("\xe2\x80\xae"
                    "evil"),
        std::string("\x01\x02\x1b]0;x\x07"), std::string("\xff\xfe"), std::string(1'000'000, '<')}) {
    const std::string html = page_of(verify_document(name));
    EXPECT_EQ(count(html, "<"), count(plain_page, "<")) << name.substr(0, 40);
    EXPECT_EQ(count(html, "<script>"), 1U);
    EXPECT_THAT(html, Not(HasSubstr("\xe2\x80\xae")));
    EXPECT_TRUE(data_of(html).is_object());
    EXPECT_LT(html.size(), plain_page.size() + 10'000'000U);
  }
}

TEST(Page, NothingIsLoaded) {
  const std::string html = page_of(verify_document("small.onnx"));
  EXPECT_THAT(html, HasSubstr("default-src &#39;none&#39;"));
  for (const char* reach : {"http:", "https:", "url(", "@import", "src=\"/", "<link", "<iframe"})
    EXPECT_THAT(html, Not(HasSubstr(reach))) << reach;
}

// Text of documents becomes text nodes, never markup.
TEST(Page, TheScriptMakesNoMarkup) {
  const std::string html = page_of(verify_document("small.onnx"));
  for (const char* way : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                          "new Function", "DOMParser", "createContextualFragment", "srcdoc"})
    EXPECT_THAT(html, Not(HasSubstr(way))) << way;
}

TEST(Page, TheStyleSheetIsAsItWasWritten) {
  const std::string html = page_of(verify_document("small.onnx"));
  EXPECT_THAT(html, HasSubstr("@media (prefers-color-scheme: dark) {"));
  EXPECT_THAT(html, HasSubstr("@media print {"));
}

TEST(Page, DocumentsOfAnyShapeAreRead) {
  for (const std::string& verb : drawn_verbs()) {
    EXPECT_THAT(page_of({{"verb", verb}}), HasSubstr("</html>")) << verb;
    for (const ordered_json& strange :
         {ordered_json(nullptr), ordered_json(3), ordered_json("x"), ordered_json(true),
          ordered_json::array({1, "x", nullptr}), ordered_json::object({{"name", 3}})}) {
      ordered_json document = {{"verb", verb}};
      for (const char* key : {"results", "errors", "command"}) document[key] = strange;
      EXPECT_THAT(page_of(document), HasSubstr("</html>")) << verb << strange;
      ordered_json entry;
      for (const char* key :
           {"model",   "candidate", "error",    "output", "trial",      "tensors", "activations",
            "nodes",   "outputs",   "metrics",  "worst",  "edge_cases", "cpus",    "batches",
            "groups",  "trials",    "best",     "layers", "methods",    "risks",   "commands",
            "targets", "hints",     "baseline", "family", "exclude",    "models",  "bytes_after"})
        entry[key] = strange;
      for (const char* key : {"results", "errors"}) document[key] = ordered_json::array({entry});
      EXPECT_THAT(page_of(document), HasSubstr("</html>")) << verb << strange;
    }
  }
}

// Short documents that would make long pages without limits.
TEST(Page, AHundredThousandNothingsAreNotShownOneByOne) {
  const ordered_json nothings = std::vector<int>(100'000);
  for (const std::string& verb : drawn_verbs()) {
    const std::string html = page_of({{"verb", verb}, {"results", nothings}});
    EXPECT_LT(html.size(), 2'000'000U) << verb;
    EXPECT_THAT(html, HasSubstr("99500 more ")) << verb;
  }
}

TEST(Page, WhatIsNotShownStillFails) {
  ordered_json candidates = std::vector<ordered_json>(600, {{"passed", true}, {"verdict", "fine"}});
  EXPECT_THAT(page_of({{"verb", "verify"}, {"results", candidates}}), HasSubstr("✓ passed</span>"));
  candidates[550]["passed"] = false;
  const std::string html = page_of({{"verb", "verify"}, {"results", candidates}});
  EXPECT_THAT(html, HasSubstr("<h1><span class=\"badge bad\">"));
  EXPECT_THAT(html, HasSubstr("100 more are not shown, 1 of them failed"));
}

TEST(Page, ATargetThatIsNotShownStillFails) {
  ordered_json models;
  for (int i = 0; i < 2000; ++i)
    models.push_back(
        {{"targets", {{{"target", std::to_string(i)}, {"verdict", i == 1999 ? "fails" : "runs"}}}}});
  const std::string html = page_of({{"verb", "check"}, {"results", models}});
  EXPECT_LT(html.size(), 2'000'000U);
  EXPECT_THAT(html, HasSubstr("1500 more are not shown, 1 of them failed"));
}

TEST(Page, LongListsAreCut) {
  ordered_json tensors = ordered_json::array();
  for (int i = 0; i < 5000; ++i)
    tensors.push_back({{"name", std::to_string(i)}, {"stored", true}, {"sqnr_db", 40}});
  const ordered_json data =
      data_of(page_of({{"verb", "quantize"}, {"results", {{{"model", "m"}, {"tensors", tensors}}}}}));
  const ordered_json& result = data["runs"][0]["document"]["results"][0];
  EXPECT_EQ(result["tensors"].size(), 2000U);
  EXPECT_EQ(result["tensors_total"], 5000);
}

TEST(Page, SoundsHaveALimitTogether) {
  ordered_json document = verify_document("small.onnx");
  const std::string sound(60'000, 'A');
  document["results"][0]["worst"] = ordered_json::array();
  for (int i = 0; i < 5; ++i) document["results"][0]["worst"].push_back({{"picture", {{"wav", sound}}}});
  const ordered_json shown = data_of(page_of(document))["runs"][0]["document"]["results"][0]["worst"];
  ASSERT_EQ(shown.size(), 5U);
  EXPECT_EQ(shown[1]["picture"]["wav"], sound);
  EXPECT_EQ(shown[2]["picture"]["wav"], "");
  EXPECT_EQ(shown[4]["picture"]["wav"], "");
}

TEST(Page, NumbersHaveSixDigits) {
  const ordered_json data = data_of(page_of(
      {{"verb", "quantize"},
       {"results", {{{"all", {0.123456789, 4.9e-324, 1.7976931348623157e308, -0.0, 12345678901}}}}}}));
  EXPECT_EQ(data["runs"][0]["document"]["results"][0]["all"].dump(),
            "[0.123457,5e-324,1.79769e+308,-0.0,12345678901]");
}

TEST(Page, SeveralRunsAreCompared) {
  const std::string html =
      page({{"a.json", verify_document("a.onnx")}, {"b.json", verify_document("b.onnx")}});
  EXPECT_THAT(html, HasSubstr("2 of 2 results passed"));
  EXPECT_EQ(count(html, "<th scope=\"row\">"), 2U);
  EXPECT_EQ(data_of(html)["runs"].size(), 2U);
}

TEST(Page, WhatIsNoRunIsRefused) {
  EXPECT_EQ(error_of([] { return page_of({{"verb", "copy"}}); }).code(), ErrorCode::kBadInput);
  EXPECT_EQ(error_of([] { return page_of(ordered_json::array()); }).code(), ErrorCode::kBadInput);
}

KeyFigures only(const ordered_json& document) {
  const std::vector<KeyFigures> all = key_figures(document);
  EXPECT_EQ(all.size(), 1U);
  return all.at(0);
}

TEST(KeyFiguresTest, QuantizeHasSizeSpeedAndMemory) {
  const KeyFigures figures =
      only({{"verb", "quantize"},
            {"results",
             {{{"model", "a/m.onnx"},
               {"output", "a/m.int8.onnx"},
               {"bytes_before", 1000},
               {"bytes_after", 260},
               {"trial",
                {{"tried", true},
                 {"samples", 32},
                 {"sqnr_db", 35.8},
                 {"load_memory_before", {{"after_bytes", 50}}},
                 {"load_memory_after", {{"after_bytes", 25}}},
                 {"speed_up", {{"ratio", 2.28}, {"low", 1.8}, {"high", 2.7}, {"measurable", true}}}}}}}}});
  EXPECT_EQ(figures.model, "m.int8.onnx");
  EXPECT_EQ(in_words(figures), "74 % smaller, 2.3× as fast, output SQNR 35.8 dB");
  EXPECT_EQ(figures.memory.after, 25);
  EXPECT_EQ(figures.verdict, Verdict::kGood);
}

TEST(KeyFiguresTest, ASpeedOnABusyMachineIsNone) {
  ordered_json speed = {{"ratio", 11.7}, {"measurable", false}, {"reliable", false}};
  const auto document = [&] {
    return ordered_json{{"verb", "quantize"},
                        {"results", {{{"trial", {{"tried", true}, {"speed_up", speed}}}}}}};
  };
  EXPECT_EQ(speed_words(only(document())), "");
  speed["reliable"] = true;
  EXPECT_EQ(speed_words(only(document())), "no measurable difference in speed");
}

TEST(KeyFiguresTest, AccuracyIsInPointsAndOtherMetricsAreNumbers) {
  ordered_json metric = {
      {"name", "top1_accuracy"}, {"unit", "share"}, {"reference", 0.922}, {"candidate", 0.922}};
  const auto quality = [&] {
    return quality_words(only({{"verb", "verify"}, {"results", {{{"metrics", {metric}}}}}}));
  };
  EXPECT_EQ(quality(), "accuracy unchanged (92.2 %)");
  metric["candidate"] = 0.91;
  EXPECT_EQ(quality(), "accuracy 1.2 points lower (91.0 %)");
  metric["unit"] = "relative";
  metric["name"] = "nll";
  EXPECT_EQ(quality(), "nll 0.91 (original: 0.922)");
}

TEST(KeyFiguresTest, EachModelOfBenchIsComparedWithTheFirst) {
  const ordered_json batch = {
      {"batch", 1}, {"latency", {{"p50_ns", 2'000'000}}}, {"speed_up", {{"ratio", 2}, {"measurable", true}}}};
  const std::vector<KeyFigures> all =
      key_figures({{"verb", "bench"},
                   {"results",
                    {{{"models",
                       {{{"model", "a"}, {"bytes", 100}, {"batches", {batch}}},
                        {{"model", "b"}, {"bytes", 50}, {"batches", {batch}}},
                        {{"model", "c"}, {"bytes", 25}, {"batches", {batch}}}}}}}}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].model, "b");
  EXPECT_EQ(in_words(all[1]), "75 % smaller, 2.0× as fast");
  EXPECT_EQ(all[1].sentence, "2.00 ms per call (median), compared with a");
}

TEST(KeyFiguresTest, FiguresOfOneModelAreJoined) {
  const std::vector<KeyFigures> quantized =
      key_figures({{"verb", "quantize"},
                   {"results", {{{"output", "small.onnx"}, {"bytes_before", 100}, {"bytes_after", 25}}}}});
  std::vector<KeyFigures> all = key_figures(verify_document("small.onnx"));
  all.insert(all.begin(), quantized.begin(), quantized.end());
  const Overall overall = overall_of(all);
  EXPECT_EQ(overall.figures.verb, "verify");
  EXPECT_EQ(in_words(overall.figures), "75 % smaller, output SQNR 40.5 dB");
}

TEST(KeyFiguresTest, ErrorsFail) {
  const KeyFigures figures =
      only({{"verb", "quantize"}, {"errors", {{{"model", "bad.onnx"}, {"message", "is no model"}}}}});
  EXPECT_EQ(figures.verdict, Verdict::kBad);
  EXPECT_EQ(figures.sentence, "is no model");
}

TEST(KeyFiguresTest, LanguageModelsAreJudgedOneByOne) {
  const std::vector<KeyFigures> all = key_figures(
      {{"verb", "verify"},
       {"results",
        {{{"models",
           {{{"model", "a"}, {"next_token", {{"p50_ns", 1'000'000}}}, {"passed", nullptr}, {"verdict", ""}},
            {{"model", "b"},
             {"next_token", {{"p50_ns", 1}}},
             {"passed", false},
             {"verdict", "failed: 3 tokens"}}}}}}}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].verdict, Verdict::kNeutral);
  EXPECT_EQ(all[1].verdict, Verdict::kBad);
  EXPECT_EQ(all[1].sentence, "3 tokens");
}

}  // namespace
}  // namespace ounce::report::html
