// What shares a scale: the whole tensor, a channel, or a block of a channel.
#pragma once

#include <cstddef>

#include "plan/decision.h"

namespace ounce::plan {

// Each fills in the decision's granularity, layout, and the shapes in which codes are scaled.
void group_by_tensor(Decision& decision);
void group_by_channel(Decision& decision, ChannelAxes axes);
// Blocks run along the axis that is summed over: inside a row, or down a column. False, and nothing changed,
// when the shape has no whole number of blocks.
bool group_by_block(Decision& decision, ChannelAxes axes, std::size_t block);

}  // namespace ounce::plan
