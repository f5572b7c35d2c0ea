// The results of verify, for people and for programs.
#pragma once

#include <ounce/verify.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ounce::report {

// One candidate of a run: its result, or why there is none.
struct VerifyRow {
  std::filesystem::path model;  // the candidate
  VerifyResult result;
  std::string error;
  int exit_code = 0;
};

std::string verify_text(const VerifyResult& result);
std::string verify_table(const std::vector<VerifyRow>& rows);  // for several candidates
nlohmann::ordered_json verify_json(const std::filesystem::path& reference,
                                   const std::vector<VerifyRow>& rows);

}  // namespace ounce::report
