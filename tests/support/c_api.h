// Test support for the C API: a call, and accessors of its results.
#pragma once

#include <gtest/gtest.h>
#include <ounce/ounce.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/temporary_folder.h"

namespace ounce::test {

struct CApi : testing::Test {
  ~CApi() override { ounce_call_free(call); }
  void start(const char* verb) {
    ounce_call_free(call);
    call = ounce_call_new(verb);
  }
  int run(const char* verb, const nlohmann::json& options) {
    start(verb);
    ounce_call_options(call, options.dump().c_str());
    return ounce_call_run(call);
  }
  nlohmann::json document() const { return nlohmann::json::parse(ounce_call_document(call)); }
  std::string message() const {
    const ounce_error* error = ounce_call_error(call);
    return error == nullptr ? "" : error->message;
  }

  TemporaryFolder folder;
  ounce_call* call = nullptr;
};

}  // namespace ounce::test
