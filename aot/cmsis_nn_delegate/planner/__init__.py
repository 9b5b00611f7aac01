"""Static memory planning: intervals in, offsets out."""
