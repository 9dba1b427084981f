// Carries out the steps of a plan, in order; each failure ends the process with the step's name and path.
#pragma once
#include "plan.h"

struct step_context {
  int root;       // targets are looked up inside it
  int userns_fd;  // whose id map `layer` steps carry, or -1
  int null_fd;    // of `mask` steps, once there was one, else 0: the root's /dev/null …
  int empty_fd;   // … and an empty folder
};

// Clones what the binds from the host are to show. To be called while the ids are still the launcher's: the
// host's folders on the way may be closed to the session's.
void steps_take_sources(const struct steps *steps);

void steps_run(const struct steps *steps, struct step_context *context);
