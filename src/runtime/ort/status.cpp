#include "runtime/ort/status.h"

#include <ounce/error.h>

#include <string_view>

namespace ounce::runtime {
namespace {

// There is no code for it; either the allocator or whoever called it says so.
bool tells_of_memory(std::string_view message) {
  return message.find("bad_alloc") != std::string_view::npos ||
         message.find("Failed to allocate memory") != std::string_view::npos;
}

ErrorCode code_of(OrtErrorCode code, std::string_view message) {
  if (tells_of_memory(message)) return ErrorCode::kMemory;
  if (message.find("system error number") != std::string_view::npos) return ErrorCode::kIo;
  switch (code) {
    case ORT_NO_SUCHFILE: return ErrorCode::kIo;
    case ORT_NOT_IMPLEMENTED: return ErrorCode::kUnsupported;
    default:
      return ErrorCode::kBadInput;  // of the model or of the data: the runtime does not tell them apart
  }
}

// "Non-zero status code returned while running Conv node. Name:'conv1' Status Message: …": what is wrong
// comes first for a person, and the node belongs to the place.
struct Complaint {
  std::string what, node;
};

Complaint read_complaint(const std::string& line) {
  constexpr std::string_view kBefore = "while running ", kName = " node. Name:'",
                             kMessage = "' Status Message: ";
  const std::size_t op = line.find(kBefore), name = line.find(kName), message = line.find(kMessage);
  if (op == std::string::npos || name == std::string::npos || message == std::string::npos) return {line, ""};
  if (op + kBefore.size() > name || name + kName.size() > message) return {line, ""};
  const std::string op_type = line.substr(op + kBefore.size(), name - op - kBefore.size());
  const std::string node = line.substr(name + kName.size(), message - name - kName.size());
  return {line.substr(message + kMessage.size()), ": node '" + node + "' (" + op_type + ")"};
}

}  // namespace

void check(const OrtApi& api, OrtStatus* status, const std::string& where) {
  if (status == nullptr) return;
  const Handle<OrtStatus> owned(status, {api.ReleaseStatus});
  const Complaint complaint = read_complaint(on_one_line(api.GetErrorMessage(status)));
  throw Error(code_of(api.GetErrorCode(status), complaint.what), "ONNX Runtime: " + complaint.what,
              where + complaint.node);
}

}  // namespace ounce::runtime
