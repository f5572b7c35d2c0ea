#include "search/tune/questions.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "support/temporary_folder.h"

namespace ounce::search {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

// Takes some time, and counts.
class SlowSession final : public Session {
 public:
  explicit SlowSession(std::atomic<int>& measured) : measured_(measured) {}
  const std::string& identity() const override { return identity_; }
  std::string answer(const std::string& question) override {
    ++measured_;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Answer{json::parse(question).at("number"), {}, true, 0.02, {}}.text();
  }

 private:
  std::atomic<int>& measured_;
  std::string identity_;
};

json number_question(int number) { return {{"measure", "number"}, {"number", number}}; }

struct QuestionsTest : testing::Test {
  // Asks for 20 numbers, as a process would that has its own journal file.
  std::vector<int> run() {
    Journal journal(file);
    SlowSession session(measured);
    LocalQueue queue(session, journal, 1);
    Questions questions(&journal, queue, "identity");
    std::vector<json> asked;
    for (int i = 0; i < 20; ++i) asked.push_back(number_question(i));
    std::vector<int> values(asked.size());
    questions.ask(asked, [&](std::size_t i, const Answer& answer) { values[i] = answer.value; });
    return values;
  }
  ounce::test::TemporaryFolder folder;
  std::filesystem::path file = folder / "kept.host.jsonl";
  std::atomic<int> measured{0};
};

TEST_F(QuestionsTest, TwoProcessesShareTheWork) {
  std::vector<int> first, second;
  std::thread other([&] { first = run(); });
  second = run();
  other.join();
  EXPECT_EQ(first, second);
  // Claims keep most keys from being measured twice (AClaimEndsWithItsProcess); how many depends on the load.
  EXPECT_GE(measured, 20);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.insert(entry.path().filename());
  EXPECT_THAT(names, UnorderedElementsAre("kept.host.jsonl", "kept.host.2.jsonl"));
  const Journal again(file);
  for (int i = 0; i < 20; ++i) EXPECT_NE(again.find(key_of(number_question(i))), nullptr);
}

TEST_F(QuestionsTest, AClaimEndsWithItsProcess) {
  auto first = std::make_unique<Journal>(file);
  Journal second(file);
  EXPECT_TRUE(first->claim("b"));
  EXPECT_FALSE(second.claim("b"));
  first.reset();
  EXPECT_TRUE(second.claim("b"));
}

TEST_F(QuestionsTest, AnotherMachinesFilesAreRead) {
  Journal(folder / "kept.other.jsonl").add("a", 1, 0);
  Journal(folder / "kept.jsonl").add("b", 2, 0);  // of an older version
  Journal journal(file);
  EXPECT_NE(journal.find("a"), nullptr);
  EXPECT_NE(journal.find("b"), nullptr);
  Journal(folder / "kept.other.jsonl").add("c", 3, 0);
  EXPECT_EQ(journal.find("c"), nullptr);
  journal.refresh();
  EXPECT_NE(journal.find("c"), nullptr);
}

TEST_F(QuestionsTest, AKeyIsWhatIsMeasured) {
  json question = number_question(1);
  const std::string key = key_of(question);
  EXPECT_TRUE(key.starts_with("number "));
  question["identity"] = "model\ndata";
  question["within"] = {{"most", 3}};
  EXPECT_EQ(key_of(question), key);
  EXPECT_NE(key_of(number_question(2)), key);
  EXPECT_EQ(key_of({{"measure", "survey"}}), "survey");
}

TEST_F(QuestionsTest, AnAnswerIsReadAsItWasWritten) {
  const Answer answer{0.1 + 0.2, {"a note"}, false, 1.5, {}};
  const Answer again = Answer::of(answer.text());
  EXPECT_EQ(again.value, answer.value);
  EXPECT_THAT(again.notes, ElementsAre("a note"));
  EXPECT_FALSE(again.is_kept);
  EXPECT_EQ(again.seconds, 1.5);
}

}  // namespace
}  // namespace ounce::search
