#include "results/results.h"

#include "results/publish_fields.h"
#include "results/search_fields.h"
#include "results/values.h"

namespace ounce::results {

Json to_json(const AdviseResult& result) { return JsonWriter::json_of(result); }
Json to_json(const BenchReport& report) { return JsonWriter::json_of(report); }
Json to_json(const CalibrateResult& result) { return JsonWriter::json_of(result); }
Json to_json(const CheckReport& report) { return JsonWriter::json_of(report); }
Json to_json(const CheckedContract& checked) { return JsonWriter::json_of(checked); }
Json to_json(const CopyResult& result) { return JsonWriter::json_of(result); }
Json to_json(const DecodeReport& report) { return JsonWriter::json_of(report); }
Json to_json(const DiffResult& result) { return JsonWriter::json_of(result); }
Json to_json(const MergedImportance& merged) { return JsonWriter::json_of(merged); }
Json to_json(const ModelInfo& info) { return JsonWriter::json_of(info); }
Json to_json(const Proof& proof) { return JsonWriter::json_of(proof); }
Json to_json(const PublishResult& result) { return JsonWriter::json_of(result); }
Json to_json(const QuantizeResult& result) { return JsonWriter::json_of(result); }
Json to_json(const ReportPage& page) { return JsonWriter::json_of(page); }
Json to_json(const SensitivityResult& result) { return JsonWriter::json_of(result); }
Json to_json(const ShadowResult& result) { return JsonWriter::json_of(result); }
Json to_json(const TuneResult& result) { return JsonWriter::json_of(result); }
Json to_json(const VerifyResult& result) { return JsonWriter::json_of(result); }
Json to_json(const app::Unpacked& unpacked) { return JsonWriter::json_of(unpacked); }

Document& Document::add_error(const std::filesystem::path& model, const report::Failure& failure) {
  Json names = Json::array();
  for (const report::FieldRef& field : failure.fields)
    names.push_back({{"field", field.field}, {"value", field.value}});
  errors_.push_back({{"code", name_of(failure.code)},
                     {"message", failure.message},
                     {"fields", std::move(names)},
                     {"model", model.empty() ? Json(nullptr) : Json(model.string())}});
  return *this;
}

Json Document::json(const std::string& command) const {
  return {{"schema_version", kSchemaVersion},
          {"verb", verb_},
          {"command", command},
          {"results", results_},
          {"errors", errors_}};
}

std::string dump(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace ounce::results
