"""Shows compiled models of cmsis_nn_delegate in Model Explorer."""
