#include "measure/event_count.h"

#include <algorithm>
#include <cmath>

namespace ounce::measure {

void EventCount::add(double events, double answers) {
  events_ += events;
  squares_ += events * events;
  most_events_ = std::max(most_events_, events);
  answers_ += answers;
  most_answers_ = std::max(most_answers_, answers);
}

Tally EventCount::tally() const {
  const double most = std::max({most_events_, std::sqrt(most_answers_), 1.0});
  const double together = (squares_ + most * most) / (events_ + most);
  return {events_ / together, answers_ / together};
}

}  // namespace ounce::measure
