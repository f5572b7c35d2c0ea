// The results of check, for people and for programs.
#pragma once

#include <ounce/check.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ounce::report {

struct CheckRow {
  std::filesystem::path model;
  CheckReport result;
  std::string error;  // instead of a result
  int exit_code = 0;
};

std::string check_text(const CheckReport& report);
nlohmann::ordered_json check_json(const std::vector<CheckRow>& rows);

}  // namespace ounce::report
