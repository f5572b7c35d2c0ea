// The result of inspect, for people and for programs.
#pragma once

#include <ounce/inspect.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ounce::report {

struct InspectRow {
  std::filesystem::path model;
  ModelInfo info;
  std::string error;
  int exit_code = 0;
};

std::string inspect_text(const ModelInfo& info, std::size_t tensors);
std::string inspect_table(const std::vector<InspectRow>& rows);
nlohmann::ordered_json inspect_json(const std::vector<InspectRow>& rows);

}  // namespace ounce::report
