"""Routes of the interface: paths, their answers, and the order in which errors are checked."""
