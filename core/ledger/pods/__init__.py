"""Records of pods: facts, belief in sources, binding, tombstones."""
