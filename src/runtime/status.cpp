#include "runtime/status.h"

#include <ounce/error.h>

#include <string_view>

namespace ounce::runtime {
namespace {

ErrorCode code_of(OrtErrorCode code) {
  switch (code) {
    case ORT_NO_SUCHFILE: return ErrorCode::kIo;
    case ORT_NOT_IMPLEMENTED: return ErrorCode::kUnsupported;
    default:
      return ErrorCode::kBadInput;  // of the model or of the data: the runtime does not tell them apart
  }
}

// The runtime's messages have line breaks and source positions in them.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_gap = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!is_gap) line += c;
    if (is_gap && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

void check(const OrtApi& api, OrtStatus* status, const std::string& where) {
  if (status == nullptr) return;
  const Handle<OrtStatus> owned(status, {api.ReleaseStatus});
  throw Error(code_of(api.GetErrorCode(status)), "ONNX Runtime: " + on_one_line(api.GetErrorMessage(status)),
              where);
}

}  // namespace ounce::runtime
