#include "model/verb_support.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <span>

namespace ounce::model {
namespace {

constexpr std::array<std::string_view, 5> kOfTflite = {"inspect", "diff", "contract", "verify", "bench"};

// Of kinds that not every verb works on.
struct Row {
  ModelKind kind;
  std::span<const std::string_view> verbs;
};
constexpr std::array kRows = {Row{ModelKind::kTflite, kOfTflite}, Row{ModelKind::kCoreml, {}}};

const Row* row_of(ModelKind kind) {
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.kind == kind; });
  return row == kRows.end() ? nullptr : row;
}

}  // namespace

bool supports(ModelKind kind, std::string_view verb) {
  const Row* const row = row_of(kind);
  return row == nullptr || std::find(row->verbs.begin(), row->verbs.end(), verb) != row->verbs.end();
}

void require_support(const std::filesystem::path& model, std::string_view verb) {
  const ModelKind kind = detect(model).value_or(ModelKind::kOnnx);
  if (supports(kind, verb)) return;
  const auto verbs = row_of(kind)->verbs;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("is a {} model, and {} works only on ONNX models yet; {}", name_of(kind), verb,
                          verbs.empty() ? "convert it to ONNX"
                                        : fmt::format("on {}: {}", name_of(kind), fmt::join(verbs, ", "))),
              model.string());
}

}  // namespace ounce::model
