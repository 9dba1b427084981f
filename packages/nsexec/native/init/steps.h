// Carries out the steps of a plan, in order; each failure ends the process with the step's name and path.
#pragma once
#include "plan.h"

struct step_context {
  int root;       // targets are looked up inside it
  int userns_fd;  // whose id map `layer` steps carry, or -1
};

void steps_run(const struct steps *steps, const struct step_context *context);
