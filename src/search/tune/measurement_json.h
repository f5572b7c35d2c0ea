// Measurements as they stand in the journal.
#pragma once

#include <ounce/bench.h>
#include <ounce/tune.h>
#include <ounce/verify.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace ounce::search {

// JSON has no infinity; null stands for it.
nlohmann::json number(double value);
double number_or(const nlohmann::json& value, double otherwise);

// Without its name and what follows from others.
nlohmann::json trial_json(const TuneTrial& trial);
TuneTrial trial_of(const nlohmann::json& made);
nlohmann::json speed_json(const SpeedUp& speed);
SpeedUp speed_of(const nlohmann::json& made);

}  // namespace ounce::search
