#include "results/results.h"

#include "base/json_text.h"
#include "report/messages.h"
#include "results/search_fields.h"

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
template Json to_json(const ExplainedMessage&);
template Json to_json(const MergedImportance&);
template Json to_json(const Overview&);
template Json to_json(const ModelInfo&);
template Json to_json(const Proof&);
template Json to_json(const PublishResult&);
template Json to_json(const QuantizeResult&);
template Json to_json(const ReportPage&);
template Json to_json(const SensitivityResult&);
template Json to_json(const ShadowResult&);
template Json to_json(const TuneResult&);
template Json to_json(const VerifyResult&);
template Json to_json(const WorkResult&);
template Json to_json(const app::Unpacked&);

void JsonWriter::put(const char* name, Json value) { made_[name] = std::move(value); }

Json JsonWriter::number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Document& Document::add_error(const std::filesystem::path& model, const report::Failure& failure) {
  Json names = Json::array();
  for (const report::FieldRef& field : failure.fields)
    names.push_back({{"field", field.field}, {"value", field.value}});
  errors_.push_back({{"code", name_of(failure.code)},
                     {"id", failure.id},
                     {"message", failure.message},
                     {"fields", std::move(names)},
                     {"model", model.empty() ? Json(nullptr) : Json(model.string())}});
  return *this;
}

namespace {

// Collects the notes of a result and of the parts in it: targets, models.
void collect_notes(const Json& part, const Json& model, Json& notes) {
  if (part.is_array()) {
    for (const Json& one : part) collect_notes(one, model, notes);
    return;
  }
  if (!part.is_object()) return;
  for (const auto& [key, value] : part.items()) {
    if (key != "notes" || !value.is_array()) {
      if (value.is_structured()) collect_notes(value, model, notes);
      continue;
    }
    for (const Json& note : value) {
      const std::string text = note.get<std::string>();
      const std::string_view id = report::message_id(text);
      notes.push_back({{"id", id.empty() ? Json(nullptr) : Json(id)}, {"message", text}, {"model", model}});
    }
  }
}

}  // namespace

void Document::add_result(Json result) {
  const Json model = result.contains("model")       ? result["model"]
                     : result.contains("candidate") ? result["candidate"]
                                                    : Json(nullptr);
  collect_notes(result, model.is_string() ? model : Json(nullptr), notes_);
  results_.push_back(std::move(result));
}

Json Document::json(const std::string& command, const std::string& next) const {
  return {{"schema_version", kSchemaVersion},
          {"verb", verb_},
          {"command", command},
          {"results", results_},
          {"notes", notes_},
          {"errors", errors_},
          {"baseline", nullptr},
          {"next", next.empty() ? Json(nullptr) : Json(next)}};
}

std::string dump(const Json& document) { return json_text(document, 2) + '\n'; }

// The schema of all documents, made from the lists of fields.

namespace {

// "QuantizeResult", from the text that the compiler has for the type: "… [with T = ounce::QuantizeResult]"
// (GCC) or "… [T = ounce::QuantizeResult]" (Clang).
template <class T>
std::string name_of_type() {
  const std::string text = __PRETTY_FUNCTION__;
  const std::size_t end = text.find_first_of(";]", text.find("T = "));
  const std::size_t begin = text.find_last_of(": ", end) + 1;
  return text.substr(begin, end - begin);
}

// Parts of a schema; each is compiled once and not for each type.
Json type_schema(const char* type) { return {{"type", type}}; }
Json array_schema(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json map_schema(Json values) { return {{"type", "object"}, {"additionalProperties", std::move(values)}}; }
Json words_schema(const std::vector<std::string>& words) { return {{"type", "string"}, {"enum", words}}; }
Json reference_to(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

Json nullable(Json made) {
  if (made.contains("$ref")) return {{"anyOf", {std::move(made), type_schema("null")}}};
  made["type"] = Json::array({made["type"], "null"});
  if (made.contains("enum")) made["enum"].push_back(nullptr);
  return made;
}

class SchemaMaker {
 public:
  // The schema of a value; structs are definitions.
  template <class T>
  Json of() {
    if constexpr (HasFields<T>) {
      const std::string name = name_of_type<T>();
      define<T>(name);
      return reference_to(name);
    } else if constexpr (HasNames<T>) {
      return words_schema(names_of<T>());
    } else if constexpr (std::is_same_v<T, bool>) {
      return type_schema("boolean");
    } else if constexpr (std::is_integral_v<T>) {
      return type_schema("integer");
    } else if constexpr (std::is_floating_point_v<T>) {
      return type_schema("number");
    } else if constexpr (std::is_same_v<T, Sentences>) {
      return array_schema(type_schema("string"));
    } else {
      return of_type(static_cast<const T*>(nullptr));
    }
  }
  Json of_type(const void*) { return type_schema("string"); }  // text, a path, a sentence
  template <class T>
  Json of_type(const std::vector<T>*) {
    return array_schema(of<T>());
  }
  template <class T>
  Json of_type(const std::map<std::string, T>*) {
    return map_schema(of<T>());
  }
  template <class T>
  Json of_type(const std::optional<T>*) {
    return nullable(of<T>());
  }

  Json definitions = Json::object();

 private:
  struct Visitor {
    SchemaMaker& maker;
    Json properties = Json::object(), names = Json::array();

    template <class T>
    void operator()(const char* name, T&&, const char* doc) {
      add(name, maker.of<std::remove_cvref_t<T>>(), doc);
    }
    void add(const char* name, Json made, const char* doc) {
      // Draft 7 ignores other keys next to a reference.
      if (made.contains("$ref")) made = {{"allOf", Json::array({made})}};
      made["description"] = doc;
      properties[name] = std::move(made);
      names.push_back(name);
    }
  };

  template <class T>
  void define(const std::string& name) {
    if (definitions.contains(name)) return;
    definitions[name] = nullptr;  // its place, before those of the structs in it
    Visitor visitor{*this};
    T object{};
    fields(object, visitor);
    finish(name, std::move(visitor));
  }
  void finish(const std::string& name, Visitor visitor) {
    definitions[name] = {{"type", "object"},
                         {"properties", std::move(visitor.properties)},
                         {"required", std::move(visitor.names)},
                         {"additionalProperties", false}};
  }
};

struct VerbSchema {
  const char* verb;
  Json result;
};

std::vector<VerbSchema> verb_schemas(SchemaMaker& maker) {
  const auto either = [](const Json& first, const Json& second) {
    return Json{{"anyOf", Json::array({first, second})}};
  };
  return {{"quantize", maker.of<QuantizeResult>()},
          {"verify", either(maker.of<VerifyResult>(), maker.of<DecodeReport>())},
          {"bench", either(maker.of<BenchReport>(), maker.of<DecodeReport>())},
          {"tune", maker.of<TuneResult>()},
          {"advise", maker.of<AdviseResult>()},
          {"sensitivity", maker.of<SensitivityResult>()},
          {"inspect", maker.of<ModelInfo>()},
          {"overview", maker.of<Overview>()},
          {"explain", maker.of<ExplainedMessage>()},
          {"check", maker.of<CheckReport>()},
          {"diff", maker.of<DiffResult>()},
          {"calibrate", either(maker.of<CalibrateResult>(), maker.of<MergedImportance>())},
          {"publish", maker.of<PublishResult>()},
          {"prove", maker.of<Proof>()},
          {"unpack", maker.of<app::Unpacked>()},
          {"repack", maker.of<CopyResult>()},
          {"contract check", maker.of<CheckedContract>()},
          {"shadow report", maker.of<ShadowResult>()},
          {"work", maker.of<WorkResult>()},
          {"report", maker.of<ReportPage>()}};
}

// Of report::FieldRef, of Document::add_result() and of Document::add_error().
void define_errors(Json& definitions) {
  const auto object = [](const Json& properties) {
    Json names = Json::array();
    for (const auto& [name, property] : properties.items()) names.push_back(name);
    return Json{
        {"type", "object"}, {"properties", properties}, {"required", names}, {"additionalProperties", false}};
  };
  definitions["FieldRef"] = object({{"field", {{"type", "string"}, {"description", "such as \"format\""}}},
                                    {"value", {{"type", "string"}, {"description", "may be empty"}}}});
  definitions["BaselineFigure"] =
      object({{"model", {{"type", "string"}, {"description", "file name"}}},
              {"figure", {{"type", "string"}, {"description", "name of the figure, with its unit"}}},
              {"before", {{"type", "number"}, {"description", "in the earlier run"}}},
              {"now", {{"type", "number"}, {"description", "in this run"}}},
              {"allowed", {{"type", "number"}, {"description", "the limit"}}},
              {"passed", {{"type", "boolean"}, {"description", "within the limit"}}},
              {"sentence", {{"type", "string"}, {"description", "the same for people"}}}});
  definitions["Note"] =
      object({{"id",
               {{"type", {"string", "null"}},
                {"description", "stable code of the message, for 'ounce explain'; null: it has none"}}},
              {"message", {{"type", "string"}, {"description", "as in the result"}}},
              {"model", {{"type", {"string", "null"}}, {"description", "path of the model of the result"}}}});
  definitions["Error"] = object(
      {{"code", {{"type", "string"}, {"enum", names_of<ErrorCode>()}, {"description", "kind of error"}}},
       {"id", {{"type", "string"}, {"description", "stable code of the message, for 'ounce explain'"}}},
       {"message", {{"type", "string"}, {"description", "one line for a person"}}},
       {"fields",
        {{"type", "array"},
         {"items", {{"$ref", "#/definitions/FieldRef"}}},
         {"description", "fields of options that the message names"}}},
       {"model",
        {{"type", {"string", "null"}}, {"description", "path; null where it is about the whole run"}}}});
}

}  // namespace

Json schema() {
  SchemaMaker maker;
  Json verbs = Json::array(), rules = Json::array();
  for (const VerbSchema& one : verb_schemas(maker)) {
    verbs.push_back(one.verb);
    rules.push_back({{"if", {{"properties", {{"verb", {{"const", one.verb}}}}}}},
                     {"then", {{"properties", {{"results", {{"items", one.result}}}}}}}});
  }
  define_errors(maker.definitions);
  return {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", "The JSON of ounce, version 2"},
      {"type", "object"},
      {"properties",
       {{"schema_version", {{"const", kSchemaVersion}}},
        {"verb", {{"enum", verbs}, {"description", "the verb that made the document"}}},
        {"command", {{"type", "string"}, {"description", "its command line, for a shell"}}},
        {"results", {{"type", "array"}, {"description", "one for each model that went well, or one"}}},
        {"notes",
         {{"type", "array"},
          {"items", {{"$ref", "#/definitions/Note"}}},
          {"description", "all notes of the results, each with its id"}}},
        {"errors",
         {{"type", "array"},
          {"items", {{"$ref", "#/definitions/Error"}}},
          {"description", "the error of each model without a result"}}},
        {"baseline",
         {{"type", {"array", "null"}},
          {"items", {{"$ref", "#/definitions/BaselineFigure"}}},
          {"description", "with --baseline: each figure compared with the earlier run"}}},
        {"next",
         {{"type", {"string", "null"}},
          {"description", "the command that usually follows, for a shell; null if there is none"}}}}},
      {"required", {"schema_version", "verb", "command", "results", "notes", "errors", "baseline", "next"}},
      {"additionalProperties", false},
      {"allOf", rules},
      {"definitions", maker.definitions}};
}

}  // namespace ounce::results
