// Questions of a search, and their answers: found in the journal, or asked of a queue.
//
//   Questions questions(journal, queue, session.identity());
//   questions.ask({{{"measure", "noise"}, {"recipe", recipe}}}, [&](std::size_t i, const Answer& answer) { …
//   });
#pragma once

#include <nlohmann/json.hpp>
#include <ounce/work.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "search/tune/journal.h"

namespace ounce::search {

// The result of Session::answer(), as JSON.
struct Answer {
  nlohmann::json value;
  std::vector<std::string> notes = {};  // about the search, not about one model
  // False if the value says more about the machine than about the model, such as an unreliable time.
  bool is_kept = true;
  double seconds = 0;
  std::string cpu = {};  // of the machine that measured

  std::string text() const;
  // Throws Error{kBadInput}.
  static Answer of(const std::string& text);
};

// The measure, and a digest of what is measured. Left out are the session's identity, and "within": limits
// that depend on the state of the search and not on the model.
std::string key_of(const nlohmann::json& question);

class Questions {
 public:
  // `journal` may be null: the answers are not kept here.
  Questions(Journal* journal, WorkQueue& queue, std::string identity)
      : journal_(journal), queue_(queue), identity_(std::move(identity)) {}

  // Asks all of them at once, and keeps the answers in the journal. `take` is called as they arrive, one call
  // at a time.
  void ask(std::vector<nlohmann::json> questions,
           const std::function<void(std::size_t, const Answer&)>& take);

 private:
  Journal* journal_;
  WorkQueue& queue_;
  std::string identity_;
};

// Answers in this process. Two processes with the same journal folder measure different questions first.
class LocalQueue final : public WorkQueue {
 public:
  // At most `threads` questions at once.
  LocalQueue(Session& session, Journal& journal, unsigned threads)
      : session_(session), journal_(journal), threads_(threads) {}

  void ask(const std::vector<std::string>& questions, const Take& take) override;

 private:
  Session& session_;
  Journal& journal_;
  unsigned threads_;
};

}  // namespace ounce::search
