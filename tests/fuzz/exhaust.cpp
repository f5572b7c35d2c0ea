// exhaust TARGET FILE…: runs the check of TARGET on each file with every single bit flipped, and on each
// truncation. Prints the number of inputs. Stops at an exception or a sanitizer's finding, and leaves the
// input in ./exhaust-failure.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

#include "fuzz/every_damage.h"
#include "fuzz/targets.h"
#include "support/temporary_folder.h"

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const auto all = ounce::test::targets();
  const auto target = std::find_if(
      all.begin(), all.end(), [&](const auto& each) { return std::string_view(each.name) == arguments[1]; });
  if (target == all.end()) return 2;
  std::uint64_t inputs = 0;
  for (int i = 2; i < count; ++i) {
    ounce::test::for_every_damage(ounce::test::read_file(arguments[i]), [&](const std::string& damaged) {
      ++inputs;
      try {
        target->check(damaged);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", arguments[i], error.what());
        ounce::test::write_file("exhaust-failure", damaged);
        std::exit(1);
      }
    });
  }
  std::printf("%s: %llu inputs\n", arguments[1], static_cast<unsigned long long>(inputs));
}
