#pragma once

#include <ounce/app/session.h>
#include <ounce/contract.h>

#include <memory>
#include <optional>
#include <string>

#include "app/model_bytes.h"
#include "app/unpacked_file.h"
#include "runtime/ort/library.h"
#include "runtime/ort/session.h"

namespace ounce::app {

// What a Session holds: the model as the runtime has loaded it, and what its memory belongs to.

struct Session::Impl {
  // The session may look into these: they go after it.
  std::optional<ModelBytes> bytes;
  std::optional<UnpackedFile> unpacked;
  std::optional<runtime::Session> session;

  // Did a file that the session looks into become shorter? Then its outputs mean nothing.
  bool was_cut() const noexcept {
    return (bytes && bytes->was_cut()) || (unpacked && unpacked->file.was_cut()) ||
           (session && session->was_cut());
  }

  std::vector<Value> inputs, outputs;
  std::optional<Contract> contract;
  Facts facts;
};

// ONNX Runtime for an app.

// Throws Failure{kNoRuntime}.
std::shared_ptr<const runtime::Library> open_library(const std::string& wanted);

}  // namespace ounce::app
