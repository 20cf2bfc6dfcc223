// How much of the processor a thread gets beside others.
#pragma once

namespace navtalk {

// The calling thread, and the threads that it starts from then on, get a core only where no other thread wants it much.
// That stays so. A failure changes nothing.
void yield_to_others();

}  // namespace navtalk
