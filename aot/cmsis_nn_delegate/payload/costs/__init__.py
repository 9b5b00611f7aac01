"""About how many instructions calls take on a core: `table.predicted_instructions`."""
