// A program that called: what a verb says is kept for it, and how far it is goes to its callback.
#pragma once

#include "capi/call.h"
#include "verbs/host.h"

namespace ounce::capi {

class CallHost : public verbs::Host {
 public:
  // All of them must outlive it; `whole` is stopped when the callback says so.
  CallHost(Outcome& outcome, Progress& whole, const OnProgress& on_progress)
      : outcome_(outcome), whole_(whole), on_progress_(on_progress) {}

  std::unique_ptr<verbs::Watch> watch(const std::string& what) override;

 protected:
  void write(verbs::Stream, const std::string& text) override { outcome_.text += text; }
  void write_document(const std::string& document) override { outcome_.document = document; }
  void write_complaint(const std::string& line) override;
  void write_passing(const std::string&) override {}  // the report says it all again

 private:
  Outcome& outcome_;
  Progress& whole_;
  const OnProgress& on_progress_;
};

}  // namespace ounce::capi
