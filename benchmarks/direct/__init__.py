"""Networks as direct calls of CMSIS-NN, without this project's runtime; see README.md."""
