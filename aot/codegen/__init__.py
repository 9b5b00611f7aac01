"""Writes the files that follow from the declarations in `cmsis_nn_delegate`; see `generate`. Not part of the wheel."""
