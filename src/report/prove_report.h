// The results of prove, for people and for programs.
#pragma once

#include <ounce/prove.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ounce::report {

// One model of a run: its proof, or why there is none.
struct ProveRow {
  std::filesystem::path model;
  Proof proof;
  std::string error;
  int exit_code = 0;
};

std::string prove_text(const Proof& proof);
std::string prove_table(const std::vector<ProveRow>& rows);  // for several models
nlohmann::ordered_json prove_json(const std::vector<ProveRow>& rows);

}  // namespace ounce::report
