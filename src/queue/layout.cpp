#include "queue/layout.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/digest.h"
#include "io/temporary_files.h"

namespace ounce::queue {
namespace {

constexpr std::size_t kKeyLetters = 32, kMostHostLetters = 24;

std::filesystem::path made(const std::filesystem::path& root) {
  std::error_code ignored;  // SharedFolder reports a missing folder
  std::filesystem::create_directories(root, ignored);
  return root;
}

// The machine for people who read the folder, and random digits.
std::string new_owner() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::string name(host.data());
  name.resize(std::min(name.size(), kMostHostLetters));
  for (char& c : name) {
    const auto letter = static_cast<unsigned char>(c);
    c = std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '-';
  }
  const std::string random = temporary_folder_name("worker");
  return fmt::format("w{}-{}", name, random.substr(random.rfind('-') + 1));
}

}  // namespace

Layout::Layout(const std::filesystem::path& root)
    : items(made(root), "items"),
      leases(root, "leases"),
      beats(root, "beats"),
      done(root, "done"),
      declined(root, "declined"),
      drafts(root, "drafts"),
      owner_(new_owner()) {}

std::string item_name(const std::string& question, bool is_of_times) {
  return hex(digest_of(question)) + std::string(is_of_times ? kTimes : "");
}

bool is_item_name(std::string_view name) {
  if (is_of_times(name)) name.remove_suffix(kTimes.size());
  return name.size() == kKeyLetters && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace ounce::queue
