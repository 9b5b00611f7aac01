"""What a payload is compiled for: cores, targets, boards and their memories."""
