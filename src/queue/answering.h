// Questions and answers as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <ounce/error.h>
#include <ounce/work.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/json_text.h"

namespace ounce::queue {

inline constexpr JsonLimits kQueueJson = {.depth = 32, .bytes = std::size_t{256} << 20};

// The text that workers read: `question` with its session.
std::string with_session(const std::string& question, const nlohmann::json& session);
bool needs_times(const nlohmann::json& question);

// The error that an answer reports instead of a value.
std::optional<Error> error_in(const nlohmann::json& answer);

}  // namespace ounce::queue
