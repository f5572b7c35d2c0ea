#include "data/source/list_source.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "data/source/media_source.h"

namespace ounce::data {

ListSource::ListSource(const std::filesystem::path& path)
    : folder_(path.parent_path()), name_(path.filename().string()), list_(path) {
  for (const std::string& column : list_.columns()) fields_.push_back({column, ElementType::kUndefined, {}});
}

Sample ListSource::read(std::uint64_t index) {
  Sample sample;
  sample.fields = list_.read(index);
  sample.name = fmt::format("{}[{}]", name_, index);
  if (!list_.file_column()) return sample;
  for (NamedTensor& field : sample.fields) {
    if (field.name != *list_.file_column()) continue;
    if (field.tensor.strings.size() != 1)
      throw Error(ErrorCode::kBadInput, "does not name a file", list_.place_of(index));
    sample.name = field.tensor.strings[0];
    Media media = read_media(folder_ / sample.name, sample.name);
    field.tensor = std::move(media.tensor);
    sample.sampling_rate = media.rate;
  }
  return sample;
}

}  // namespace ounce::data
