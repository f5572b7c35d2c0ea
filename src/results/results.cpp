#include "results/results.h"

#include "results/publish_fields.h"
#include "results/search_fields.h"
#include "results/values.h"

namespace ounce::results {

template <class Result>
Json to_json(const Result& result) {
  return JsonWriter::json_of(result);
}
template Json to_json(const AdviseResult&);
template Json to_json(const BenchReport&);
template Json to_json(const CalibrateResult&);
template Json to_json(const CheckReport&);
template Json to_json(const CheckedContract&);
template Json to_json(const CopyResult&);
template Json to_json(const DecodeReport&);
template Json to_json(const DiffResult&);
template Json to_json(const MergedImportance&);
template Json to_json(const ModelInfo&);
template Json to_json(const Proof&);
template Json to_json(const PublishResult&);
template Json to_json(const QuantizeResult&);
template Json to_json(const ReportPage&);
template Json to_json(const SensitivityResult&);
template Json to_json(const ShadowResult&);
template Json to_json(const TuneResult&);
template Json to_json(const VerifyResult&);
template Json to_json(const app::Unpacked&);

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
