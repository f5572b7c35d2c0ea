#include "io/file_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "io/descriptor.h"

namespace ounce::io {

bool drop_from_cache(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || status.st_size == 0) return false;
  ::fdatasync(file.get());  // pages that are not on the disk yet cannot be dropped
  if (::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) return false;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return false;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  const bool is_known = ::mincore(mapped, size, pages.data()) == 0;
  ::munmap(mapped, size);
  return is_known &&
         std::none_of(pages.begin(), pages.end(), [](unsigned char state) { return (state & 1) != 0; });
}

}  // namespace ounce::io
