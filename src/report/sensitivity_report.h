// The results of sensitivity, for people and for programs.
#pragma once

#include <ounce/sensitivity.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ounce::report {

// One model of a run: its result, or why there is none.
struct SensitivityRow {
  std::filesystem::path model;
  SensitivityResult result;
  std::string error;
  int exit_code = 0;
};

std::string sensitivity_text(const SensitivityResult& result, double min_sqnr);
nlohmann::ordered_json sensitivity_json(const std::vector<SensitivityRow>& rows, double min_sqnr);

}  // namespace ounce::report
