// Steps that cover what a filesystem of the kernel shows. What a kernel lacks needs no cover.
#pragma once
#include "steps.h"

void step_read_only(int root, char **args);
void step_mask(struct step_context *context, char **args);
