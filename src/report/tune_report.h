// The results of tune, for people and for programs.
#pragma once

#include <ounce/tune.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ounce::report {

// One model of a run: its result, or why there is none.
struct TuneRow {
  std::filesystem::path model;
  TuneResult result;
  std::string error;
  int exit_code = 0;
};

std::string trial_line(const TuneTrial& trial);  // while the search goes on
std::string tune_text(const TuneResult& result);
std::string tune_table(const std::vector<TuneRow>& rows);  // for several models
nlohmann::ordered_json tune_json(const std::vector<TuneRow>& rows);

}  // namespace ounce::report
