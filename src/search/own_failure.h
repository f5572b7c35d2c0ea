// Is an error a candidate's own fault, so that the search goes on with others?
#pragma once

#include <ounce/error.h>

namespace ounce::search {

inline bool is_own_failure(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kUnsupported:
    case ErrorCode::kBadInput:
    case ErrorCode::kTimeout:
    case ErrorCode::kInternal: return true;
    default: return false;
  }
}

}  // namespace ounce::search
