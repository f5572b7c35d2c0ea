// What a program does when it has to end because memory ran out. A std::bad_alloc is caught like any other
// exception; but there are functions of other libraries that promise not to throw and allocate all the same,
// and constructors that run while a library is opened. They end the process, and this is what it does then
// instead of aborting.
#pragma once

namespace ounce {

// `end` must not return, and not allocate. Aborts for other reasons stay what they are.
void when_memory_runs_out(void (*end)());

}  // namespace ounce
