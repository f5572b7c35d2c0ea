// What a Session holds: the model as the runtime has loaded it, and what its memory belongs to.
#pragma once

#include <ounce/app/session.h>
#include <ounce/contract.h>

#include <optional>

#include "app/model_bytes.h"
#include "app/unpacked_file.h"
#include "runtime/session.h"

namespace ounce::app {

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

}  // namespace ounce::app
