// A folder that several machines share, with operations that are safe on NFS: names appear with link(), which
// only one caller succeeds in; every file has one writer; nothing is locked; no clock of another machine and
// no time of a file is read. Links out of the folder are not followed, and content is untrusted.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.h"

namespace ounce::queue {

inline constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of a question or an answer
inline constexpr std::size_t kMostNames = std::size_t{1} << 20;    // in a folder

// A name that this queue gives: lower-case letters, digits, '.', '-'; it does not begin with a dot.
bool is_plain_name(std::string_view name);

class SharedFolder {
 public:
  // Opens the folder `name` in `parent`, and creates it first if it does not exist. Throws Error{kIo}.
  SharedFolder(const std::filesystem::path& parent, const std::string& name);

  // Plain names in any order, at most kMostNames. Throws Error{kIo}.
  std::vector<std::string> names() const;
  bool has(const std::string& name) const;
  // Nothing if the file does not exist, is no regular file, or has more bytes than `most`.
  std::optional<std::string> read(const std::string& name, std::size_t most = kMostBytes) const;
  // Writes a file of this process, over its earlier content. Throws Error{kIo}.
  void overwrite(const std::string& name, std::string_view text) const;
  void remove(const std::string& name) const;

  enum class Flush { kToDisk, kNone };
  // Gives `text` the name `name` at once, unless it is taken: then returns false. `unfinished` is a name in
  // `drafts` that only this caller uses. Throws Error{kIo}.
  bool publish(const std::string& name, std::string_view text, const SharedFolder& drafts,
               const std::string& unfinished, Flush flushes = Flush::kNone) const;

 private:
  std::filesystem::path path_;  // for messages
  io::Descriptor open_;
};

}  // namespace ounce::queue
