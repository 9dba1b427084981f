// The steps that make folders, nodes, links and files inside a root.
#pragma once

void step_folder(int root, char **args);
void step_node(int root, char **args);
void step_link(int root, char **args);
void step_file(int root, char **args);
