// The folders of a queue, and the names of their files. KEY is the digest of a question's text; questions
// about times have names of their own, because only some workers answer them.
//
//   items/KEY, items/KEY.times     a question that waits for an answer; its coordinator removes it
//   leases/KEY.1, .2, …            the worker that measures it: number n + 1 only after worker n has ended
//   beats/WORKER                   a counter that changes while the worker lives
//   done/KEY                       the answer: the first one counts
//   declined/KEY.WORKER            why a worker cannot answer the question
//   drafts/…                       unfinished files
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

#include "queue/shared_folder.h"

namespace ounce::queue {

inline constexpr std::string_view kTimes = ".times";

class Layout {
 public:
  // Creates `root` and its folders if they do not exist. Throws Error{kIo}.
  explicit Layout(const std::filesystem::path& root);

  SharedFolder items, leases, beats, done, declined, drafts;

  // A word that no other process has.
  const std::string& owner() const { return owner_; }
  // A name for publish(), unique in `drafts`.
  std::string draft() { return fmt::format("{}.{}", owner_, ++drafts_made_); }

 private:
  std::string owner_;
  std::atomic<std::uint64_t> drafts_made_{0};
};

inline std::string lease_name(const std::string& item, unsigned number) {
  return fmt::format("{}.{}", item, number);
}

// The name of a question's item: its digest, and kTimes if only workers for times may answer it.
std::string item_name(const std::string& question, bool is_of_times);
bool is_item_name(std::string_view name);
inline bool is_of_times(std::string_view item) { return item.ends_with(kTimes); }

}  // namespace ounce::queue
