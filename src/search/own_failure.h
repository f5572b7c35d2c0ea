// Is an error a candidate's own fault, so that the search goes on with others?
#pragma once

#include <ounce/error.h>

namespace ounce::search {

inline bool is_own_failure(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kUnsupported:
    case ErrorCode::kBadInput:
    case ErrorCode::kTimeout:
    case ErrorCode::kMemory:
    case ErrorCode::kInternal: return true;
    default: return false;
  }
}

// Did the machine give it too little? That is no fact about the candidate: another day there may be more.
inline bool is_shortage(const Error& error) {
  return error.code() == ErrorCode::kTimeout || error.code() == ErrorCode::kMemory;
}

}  // namespace ounce::search
