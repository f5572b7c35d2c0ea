#include "app/load_checks.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

#include "app/model_bytes.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "base/quality.h"
#include "data/contract/contract_file.h"
#include "data/tensor.h"
#include "formats/onnx/file/reader.h"
#include "runtime/masked_cpu.h"
#include "runtime/ort/library.h"

namespace ounce::app {
namespace {

using nlohmann::json;

constexpr const char* kStatementKey = "ounce.statement";
constexpr std::string_view kLitert = "litert-";  // prefix of the version in targets of TFLite models
constexpr JsonLimits kStatementLimits{.depth = 8};

// The machine's name in targets and provenance records: "x64" or "arm64".
std::string machine_in_targets() {
  const std::string machine = runtime::this_machine();
  if (machine == "x86_64") return "x64";
  return machine == "aarch64" ? "arm64" : machine;
}

bool is_older(const std::string& has, const std::string& needs) {
  const auto here = runtime::parse_version(has), wanted = runtime::parse_version(needs);
  return here && wanted && *here < *wanted;
}

void require_release(const Place& here, const std::string& needs, const std::string& model) {
  if (!is_older(here.version, needs)) return;
  throw Failure(Status::kRuntimeTooOld,
                fmt::format("the model was made for {} {} or newer, but this is {}; ship a newer runtime, or "
                            "quantize the model "
                            "for this version",
                            here.runtime, needs, here.version),
                model);
}

// Checks the runtime and the target in the provenance record. `ounce prove` checks the rest of it.
void check_statement(const std::string& text, const LoadedModel& session, const Checks& checks) {
  const std::string where = fmt::format("{}: metadata '{}'", session.model(), kStatementKey);
  const json statement =
      as_failures(Status::kBadModel, [&] { return parse_json(text, kStatementLimits, where); });
  try {
    const Place here{session.runtime(), session.runtime_version(), machine_in_targets(), cpu_kernels()};
    if (checks.runtime && statement.contains("releases")) {
      const json& releases = statement["releases"];
      if (releases.contains(here.machine))
        require_release(here, releases[here.machine].get<std::string>(), session.model());
    }
    if (statement.contains("recipe") && statement["recipe"].contains("target")) {
      check_target(statement["recipe"]["target"].get<std::string>(), here, checks, session.model());
    }
  } catch (const json::exception&) {
    throw Failure(Status::kBadModel, "invalid provenance record", where);
  }
}

}  // namespace

void check_digest(const ModelBytes& model, const std::string& expected) {
  if (expected.empty()) return;
  constexpr std::size_t kSha256 = 64, kIdentity = 32;
  if (expected.size() != kSha256 && expected.size() != kIdentity) {
    throw Failure(
        Status::kUsage,
        "an expected digest must have 64 hex digits (SHA-256), or the 32 digits of the non-cryptographic "
        "'digest' of 'ounce unpack'",
        model.name());
  }
  // Throws if the model has external data, because the digest of these bytes would not cover it.
  if (model.path().empty() && !model.is_ort() && !model.is_tflite())
    as_failures(Status::kBadModel,
                [&] { onnx::read_model_from_memory(std::string(model.bytes()), model.name()); });
  const std::string has = as_failures(Status::kBadModel, [&] {
    const ModelDigest files(model);
    return expected.size() == kSha256 ? files.sha256() : files.identity();
  });
  const auto is_same_digit = [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); };
  if (std::equal(has.begin(), has.end(), expected.begin(), expected.end(), is_same_digit)) return;
  throw Failure(Status::kWrongDigest,
                fmt::format("not the expected model: its digest is {}, not {}", has, expected), model.name());
}

void check_target(const std::string& target, const Place& here, const Checks& checks,
                  const std::string& model) {
  // SYSTEM-MACHINE[@[litert-]VERSION][+WORD …]. The name of an execution provider alone has nothing to check.
  const std::string place = target.substr(0, target.find_first_of("@+"));
  const std::size_t dash = place.find('-');
  if (dash == std::string::npos) return;
  const std::string wanted = place.substr(dash + 1);
  const bool is_machine = wanted == "x64" || wanted == "arm64";
  if (checks.cpu && is_machine && wanted != here.machine) {
    throw Failure(Status::kOtherCpu,
                  fmt::format("the model was made for {}, but this CPU is {}; use the model for this CPU",
                              target, here.machine),
                  model);
  }
  const std::size_t at = target.find('@');
  if (checks.runtime && at != std::string::npos) {
    std::string version = target.substr(at + 1, target.find('+', at) - at - 1);
    if (version.starts_with(kLitert)) version.erase(0, kLitert.size());
    require_release(here, version, model);
  }
  for (const char* feature : {"vnni", "avx512", "avx2"}) {
    const bool asks = target.find(fmt::format("+{}", feature)) != std::string::npos;
    const bool has = here.kernels.find(feature) != std::string::npos ||
                     (std::string_view(feature) == "avx2" && here.kernels.starts_with("avx512"));
    if (!checks.cpu || !asks || has) continue;
    throw Failure(
        Status::kOtherCpu,
        fmt::format("the model was made for a CPU with {}, but this one has {}; use the model for this CPU",
                    feature, here.kernels),
        model);
  }
}

void check_metadata(const LoadedModel& session, const Checks& checks) {
  const std::string& model = session.model();
  if (checks.is_ours && !session.metadata("ounce.version"))
    throw Failure(Status::kNotOurs, "the model was not written by Ounce, or its metadata was removed", model);
  if (!checks.source.empty()) {
    const std::string source = session.metadata("ounce.source").value_or("");
    if (source != checks.source) {
      throw Failure(Status::kWrongSource,
                    fmt::format("the model was made from {}, not from {}",
                                source.empty() ? "an unrecorded source" : source, checks.source),
                    model);
    }
  }
  const auto contract = session.metadata(Contract::kMetadataKey);
  if (checks.has_contract && !contract)
    throw Failure(Status::kNoContract, "the model has no contract; add one with 'ounce contract set'", model);
  if (contract) as_failures(Status::kBadModel, [&] { data::parse_contract(*contract, model); });
  if (!checks.runtime && !checks.cpu) return;
  if (const auto statement = session.metadata(kStatementKey)) check_statement(*statement, session, checks);
}

void check_golden_input(const Golden& golden, std::span<const data::TensorView> inputs,
                        const std::string& model) {
  if (data::digest_of_tensors(inputs) == golden.input_digest) return;
  throw Failure(
      Status::kContractMismatch,
      fmt::format(
          "preprocessing the golden sample '{}' gives other values here than recorded in the contract; "
          "'ounce contract check' shows the differences",
          golden.sample),
      model);
}

void check_golden_output(const Golden& golden, std::span<const data::TensorView> outputs,
                         const std::vector<data::ValueDescription>& names, const std::string& model) {
  if (data::digest_of_tensors(outputs) == golden.output_digest) return;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto recorded = golden.outputs.find(names[i].name);
    const double sqnr = recorded == golden.outputs.end()
                            ? -std::numeric_limits<double>::infinity()
                            : data::golden_sqnr_db(recorded->second, data::golden_values(outputs[i]));
    if (sqnr >= Quality::kMinUsable) continue;
    throw Failure(
        Status::kGoldenMismatch,
        fmt::format(
            "with the golden sample '{}' the output '{}' differs from the one recorded in the contract: "
            "{:.1f} dB SQNR, at least {} dB required",
            golden.sample, names[i].name, sqnr, Quality::kMinUsable),
        model);
  }
}

namespace {

constexpr std::uint64_t kMostProbed = std::uint64_t{1} << 26;  // values; larger inputs fail as wrong shapes

// Float inputs get small positive and negative numbers, neighbors always different. Other inputs get 0 and 1,
// because they may be indices.
data::Tensor probe(const data::ValueDescription& input) {
  data::Tensor made;
  for (const auto& dimension : input.shape) made.dims.push_back(dimension.value < 0 ? 1 : dimension.value);
  const std::uint64_t count = std::min(data::element_count(made.dims, input.name), kMostProbed);
  made.type = ElementType::kFloat;
  made.bytes.resize(count * sizeof(float));
  const bool is_float = is_float_weight_type(input.element);
  std::size_t i = 0;
  for (float& value : data::values_of<float>(made)) {
    value =
        is_float ? static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 64 : static_cast<float>(i % 2);
    ++i;
  }
  return data::convert(std::move(made), input.element, input.name);
}

}  // namespace

std::vector<data::Tensor> probe_inputs(const std::vector<data::ValueDescription>& inputs) {
  std::vector<data::Tensor> made;
  for (const data::ValueDescription& input : inputs) {
    if (!input.is_tensor() || input.element == ElementType::kString) return {};
    made.push_back(probe(input));
  }
  return made;
}

namespace {

ErrorCode code_of(Status status) {
  switch (status) {
    case Status::kUsage:
    case Status::kThreadsTaken: return ErrorCode::kUsage;
    case Status::kIo: return ErrorCode::kIo;
    case Status::kUnsupported:
    case Status::kNoRuntime:
    case Status::kRuntimeTooOld:
    case Status::kOtherCpu: return ErrorCode::kUnsupported;
    case Status::kMemory: return ErrorCode::kMemory;
    case Status::kCancelled: return ErrorCode::kCancelled;
    case Status::kTimeout: return ErrorCode::kTimeout;
    case Status::kInternal: return ErrorCode::kInternal;
    default: return ErrorCode::kBadInput;
  }
}

}  // namespace

Failure::Failure(Status status, const std::string& message, std::string where)
    : Error(code_of(status), message, std::move(where)), status_(status) {}

Status status_of(ErrorCode code, Status bad_input) {
  switch (code) {
    case ErrorCode::kUsage: return Status::kUsage;
    case ErrorCode::kBadInput: return bad_input;
    case ErrorCode::kUnsupported: return Status::kUnsupported;
    case ErrorCode::kIo: return Status::kIo;
    case ErrorCode::kCancelled: return Status::kCancelled;
    case ErrorCode::kTimeout: return Status::kTimeout;
    case ErrorCode::kMemory: return Status::kMemory;
    case ErrorCode::kInternal: break;
  }
  return Status::kInternal;
}

}  // namespace ounce::app
