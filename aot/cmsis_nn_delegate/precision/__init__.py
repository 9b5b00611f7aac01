"""The formats that layers may have: the noise and the price of each, and the best choices."""
