// The root: made private, bound onto itself, pivoted into.
#pragma once

// Makes every mount below / private, so that nothing reaches the host's namespace.
void root_make_private(void);

// Binds ROOT onto itself with all below it, and gives an O_PATH descriptor of the new mount. It makes a
// plain folder a mount point, and a mount inherited across a user namespace one of our own.
int root_bind(const char *root);

// pivot_root into ROOT and detaches what was / before.
void root_pivot(int root);
