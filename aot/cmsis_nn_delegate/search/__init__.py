"""Finds the cheapest formats of layers that keep an accuracy."""
