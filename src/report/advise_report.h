// Advice about a model, for people and for programs.
#pragma once

#include <ounce/advise.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ounce::report {

// One model of a run: the advice, or why there is none.
struct AdviseRow {
  std::filesystem::path model;
  AdviseResult result;
  std::string error;
  int exit_code = 0;
};

std::string advise_text(const AdviseResult& result);
std::string advise_table(const std::vector<AdviseRow>& rows);  // for several models
nlohmann::ordered_json advise_json(const std::vector<AdviseRow>& rows);

}  // namespace ounce::report
