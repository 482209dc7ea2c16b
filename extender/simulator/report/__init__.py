"""Records of a run, and the texts, tables, data and pages made of them."""
