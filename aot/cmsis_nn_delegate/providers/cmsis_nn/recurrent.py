"""CMSIS-NN's LSTM."""

from __future__ import annotations

from ...graph.ir import Node
from ...ops import lstm
from ...ops.kernel import KernelSpec
from ...targets.target import Target
from ..implementation import Implementation, Symbol, Workspace


class Lstm(Implementation):
    """arm_nn_lstm_step_s8 for each step, since arm_lstm_unidirectional_s8 knows no other order of steps and no lengths,
    and takes zeros as the output before the first step only without a state to begin with."""

    def __init__(self, kernel: KernelSpec) -> None:
        super().__init__(
            "lstm",
            Symbol(
                kernel,
                "arm_nn_lstm_step_s8",
                (
                    "ActivationFunctions/arm_nn_activation_s16.c",
                    "BasicMathFunctions/arm_elementwise_mul_acc_s16.c",
                    "BasicMathFunctions/arm_elementwise_mul_s16.c",
                    "BasicMathFunctions/arm_elementwise_mul_s16_s8.c",
                    "NNSupportFunctions/arm_nn_lstm_calculate_gate_s8_s16.c",
                    "NNSupportFunctions/arm_nn_lstm_step_s8.c",
                    "NNSupportFunctions/arm_nn_vec_mat_mul_result_acc_s8_s16.c",
                    "NNSupportFunctions/arm_nntables.c",
                ),
            ),
        )

    def workspace(self, node: Node, target: Target) -> Workspace:
        """Two gates in 16 bits."""
        return Workspace(4 * lstm.Lstm.sizes(node).hidden)
