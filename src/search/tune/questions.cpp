#include "search/tune/questions.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "base/thread_pool.h"

namespace ounce::search {
namespace {

using nlohmann::json;

constexpr JsonLimits kAnswerLimits = {.depth = 32, .bytes = std::size_t{256} << 20};

}  // namespace

std::string Answer::text() const {
  json made = {{"value", value}, {"seconds", seconds}};
  if (!notes.empty()) made["notes"] = notes;
  if (!is_kept) made["kept"] = false;
  return json_text(made);
}

Answer Answer::of(const std::string& text) {
  json made = parse_json(text, kAnswerLimits, "an answer");
  try {
    Answer answer;
    answer.value = std::move(made.at("value"));
    answer.seconds = std::max(0.0, made.value("seconds", 0.0));
    answer.notes = made.value("notes", answer.notes);
    answer.is_kept = made.value("kept", true);
    answer.cpu = made.value("cpu", "");
    return answer;
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadInput, std::string("an answer is not valid: ") + error.what());
  }
}

std::string key_of(const json& question) {
  json asked = question;
  asked.erase("identity");
  asked.erase("within");
  const std::string measure = asked.at("measure");
  asked.erase("measure");
  return asked.empty() ? measure : measure + " " + hex(digest_of(json_text(asked)));
}

void Questions::ask(std::vector<json> questions,
                    const std::function<void(std::size_t, const Answer&)>& take) {
  std::vector<std::string> texts, keys;
  for (json& question : questions) {
    keys.push_back(key_of(question));
    question["identity"] = identity_;
    texts.push_back(json_text(question));
  }
  // Several answers may be measured at the same time. Their durations add up to that of the call.
  const Stopwatch time;
  double before = 0;
  queue_.ask(texts, [&](std::size_t i, const std::string& text) {
    Answer answer = Answer::of(text);
    const double now = time.seconds();
    answer.seconds = now - before;
    before = now;
    if (answer.is_kept && journal_ != nullptr) journal_->add(keys[i], answer.value, answer.seconds);
    take(i, answer);
  });
}

namespace {

constexpr auto kLook = std::chrono::milliseconds(20);
constexpr double kPatience = 60;  // seconds without an answer from the process that claims a question

// Questions that are waiting, in order. Hands out first what no other process measures.
class Waiting {
 public:
  Waiting(const std::vector<std::string>& questions, Journal& journal) : journal_(journal) {
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const std::string key = key_of(parse_json(questions[i], kAnswerLimits));
      rest_.push_back({i, key, journal.find(key)});
    }
  }

  struct Next {
    std::size_t question = 0;
    const Journal::Entry* known = nullptr;  // measured by another process meanwhile
  };
  Next next() {
    for (const Stopwatch time;;) {
      throw_if_cancelled();
      {
        const std::scoped_lock lock(mutex_);
        for (auto one = rest_.begin(); one != rest_.end(); ++one) {
          const bool is_ours = journal_.claim(one->key) || time.seconds() > kPatience;
          const Journal::Entry* known = journal_.find(one->key);
          if (known == one->unreadable) known = nullptr;
          if (!is_ours && known == nullptr) continue;
          const Next next{one->question, known};
          rest_.erase(one);
          return next;
        }
      }
      std::this_thread::sleep_for(kLook);
    }
  }

 private:
  struct One {
    std::size_t question;
    std::string key;
    const Journal::Entry* unreadable;  // the reason for the question, if the journal has the key
  };

  Journal& journal_;
  std::mutex mutex_;
  std::vector<One> rest_;
};

}  // namespace

void LocalQueue::ask(const std::vector<std::string>& questions, const Take& take) {
  Waiting waiting(questions, journal_);
  std::mutex one_at_a_time;
  ThreadPool pool(static_cast<unsigned>(std::min<std::size_t>(std::max(1U, threads_), questions.size())));
  pool.for_each(questions.size(), [&](std::size_t) {
    const Waiting::Next next = waiting.next();
    const std::string answer = next.known != nullptr
                                   ? Answer{next.known->value, {}, false, next.known->seconds}.text()
                                   : session_.answer(questions[next.question]);
    const std::scoped_lock lock(one_at_a_time);
    take(next.question, answer);
  });
}

}  // namespace ounce::search
