"""How exact a compiled model is, layer by layer, and what to do about it."""
