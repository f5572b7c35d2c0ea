// Results as JSON: the document that --json prints, and its schema.
//
//   Document document("quantize");
//   for (const report::Row<QuantizeResult>& row : rows) document.add(row);
//   const Json json = document.json("ounce quantize model.onnx");
//   // {"schema_version": 2, "verb": "quantize", "command": "ounce …", "results": [{…}], "errors": []}
//
// The fields of each struct are listed once, in *_fields.h; adding one takes a line there. The schema in
// docs/schema/ounce-v2.json, the Python classes and docs/json.md are made from these lists.
#pragma once

#include <ounce/advise.h>
#include <ounce/app/shadow.h>
#include <ounce/app/unpack.h>
#include <ounce/bench.h>
#include <ounce/calibrate.h>
#include <ounce/check.h>
#include <ounce/contract.h>
#include <ounce/copy.h>
#include <ounce/decode.h>
#include <ounce/diff.h>
#include <ounce/inspect.h>
#include <ounce/prove.h>
#include <ounce/publish.h>
#include <ounce/quantize.h>
#include <ounce/sensitivity.h>
#include <ounce/tune.h>
#include <ounce/verify.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/table.h"

namespace ounce::results {

using Json = nlohmann::ordered_json;

inline constexpr int kSchemaVersion = 2;

// Of verbs whose result is more than one struct of include/ounce.
struct ReportPage {
  std::filesystem::path output;
  std::vector<std::string> runs;
  std::uint64_t bytes = 0;
};
struct ShadowResult {
  app::ShadowStatistics statistics;
  app::ShadowVerdict verdict;
};
struct CheckedContract {
  std::filesystem::path model;
  ContractCheck check;
};
struct MergedImportance {
  std::filesystem::path output;
};

// Defined for every struct that has a list of fields, in results.cpp.
template <class Result>
Json to_json(const Result& result);

class Document {
 public:
  explicit Document(std::string verb) : verb_(std::move(verb)) {}

  template <class Result>
  Document& add(const Result& result) {
    results_.push_back(to_json(result));
    return *this;
  }
  template <class Result>
  Document& add(const report::Row<Result>& row) {
    if (!row.error.empty()) return add_error(row.model, row.error);
    return add(row.result);
  }
  template <class Result>
  Document& add(const std::vector<report::Row<Result>>& rows) {
    for (const auto& row : rows) add(row);
    return *this;
  }
  Document& add_error(const std::filesystem::path& model, const report::Failure& failure);

  Json json(const std::string& command) const;

 private:
  std::string verb_;
  Json results_ = Json::array(), errors_ = Json::array();
};

// As text: names that are not UTF-8 are repaired rather than refused.
std::string dump(const Json& document);

// The JSON schema (draft 7) of all documents.
Json schema();

}  // namespace ounce::results
