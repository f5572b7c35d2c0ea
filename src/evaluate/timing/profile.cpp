#include "evaluate/timing/profile.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/json_text.h"
#include "evaluate/timing/rounds.h"
#include "io/mapped_file.h"
#include "ops/op_info.h"

namespace ounce::evaluate {
namespace {

constexpr std::string_view kEnding = "_kernel_time";
constexpr JsonLimits kLimits{.depth = 16, .bytes = std::size_t{512} << 20};

struct Event {
  std::string node, op_type;
  double begin = 0, seconds = 0;  // those of nodes inside taken off
  double end = 0;
};

struct Events {
  std::uint64_t runs = 0;
  std::vector<Event> kernels;
};

Events events_of(std::string_view json) {
  Events events;
  for (const auto& entry : parse_json(json, kLimits)) {
    if (!entry.is_object()) continue;
    const std::string name = entry.value("name", "");
    if (entry.value("cat", "") == "Session" && name == "model_run") ++events.runs;
    if (entry.value("cat", "") != "Node" || !name.ends_with(kEnding) || !entry.contains("args")) continue;
    constexpr double kMicro = 1e-6;
    const double begin = kMicro * entry.value("ts", 0.0), seconds = kMicro * entry.value("dur", 0.0);
    events.kernels.push_back({name.substr(0, name.size() - kEnding.size()),
                              entry["args"].value("op_name", ""), begin, seconds, begin + seconds});
  }
  return events;
}

// An event that lies inside of another one is part of it. Those around come first.
void take_off_the_inner(std::vector<Event>& events) {
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<std::size_t> around;
  const auto has_body = [](const Event& event) {
    return ops::info(ops::find_op(event.op_type)).op_class == ops::Class::kControlFlow;
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    while (!around.empty() && events[around.back()].end < events[i].end) around.pop_back();
    if (!around.empty()) events[around.back()].seconds -= events[i].end - events[i].begin;
    if (has_body(events[i])) around.push_back(i);
  }
}

template <class T>
void sort_by_time(std::vector<T>& list) {
  std::stable_sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.seconds > b.seconds; });
}

}  // namespace

bool is_integer_kernel(std::string_view op_type) {
  return ops::info(ops::find_op(op_type)).op_class == ops::Class::kIntegerProduct;
}

Profile profile_of(std::string_view json) {
  auto [runs, events] = events_of(json);
  take_off_the_inner(events);
  std::map<std::pair<std::string, std::string>, std::vector<double>> by_node;
  for (Event& event : events)
    by_node[{std::move(event.node), std::move(event.op_type)}].push_back(std::max(0.0, event.seconds));
  Profile profile;
  profile.runs = runs;
  std::map<std::string, OpTime> ops;
  for (const auto& [key, times] : by_node) {
    // In a loop a node runs more often than the model, in a branch less often.
    const double seconds = times.size() == runs ? median(times)
                                                : std::accumulate(times.begin(), times.end(), 0.0) /
                                                      std::max(1.0, static_cast<double>(runs));
    profile.nodes.push_back({key.first, key.second, seconds});
  }
  for (const NodeTime& node : profile.nodes) {
    OpTime& op = ops[node.op_type];
    op.op_type = node.op_type;
    ++op.nodes;
    op.seconds += node.seconds;
    profile.seconds += node.seconds;
    if (is_integer_kernel(node.op_type)) profile.integer_share += node.seconds;
  }
  if (profile.seconds > 0) profile.integer_share /= profile.seconds;
  for (auto& [name, op] : ops) profile.ops.push_back(std::move(op));
  sort_by_time(profile.ops);
  sort_by_time(profile.nodes);
  return profile;
}

Profile read_profile(const std::filesystem::path& file) {
  return profile_of(io::MappedFile::open(file).bytes());
}

}  // namespace ounce::evaluate
