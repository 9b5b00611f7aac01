"""The tuned kernels, in the order of preference."""

from __future__ import annotations

from ..implementation import OwnImplementation
from . import recurrent_int4_pairs, recurrent_int4_vectors, recurrent_pairs, recurrent_vectors
from .add_linear import AddLinear, AddLinearBroadcast
from .add_pairs_int16 import AddPairsInt16
from .avg_pool2d_channels import AvgPool2dChannels
from .batch_matmul_pairs import BatchMatmulPairs
from .batch_matmul_vectors import BatchMatmulVectors
from .batch_matmul_vectors_int16 import BatchMatmulVectorsInt16
from .conv2d_as_row import Conv2dAsRow, Conv2dAsRowInt16, Conv2dInt4AsRow, Conv2dInt4AsRowInt16
from .conv2d_few_channels_int16 import Conv2dFewChannelsInt16
from .conv2d_grouped import (
    Conv2dGroupedPairs,
    Conv2dGroupedPairsInt16,
    Conv2dGroupedVectors,
    Conv2dGroupedVectorsInt16,
)
from .conv2d_int4_pairs import Conv2dInt4Pairs
from .conv2d_int4_pairs_int16 import Conv2dInt4PairsInt16
from .conv2d_int4_vectors import Conv2dInt4Vectors
from .conv2d_int4_vectors_int16 import Conv2dInt4VectorsInt16
from .conv2d_int4_wide_pairs import Conv2dInt4WidePairs
from .conv2d_joint_pairs import Conv2dJointPairs
from .conv2d_pairs import Conv2dPairs
from .conv2d_pairs_int16 import Conv2dPairsInt16
from .conv2d_vectors import Conv2dVectors
from .conv2d_vectors_int16 import Conv2dVectorsInt16
from .conv2d_wide_vectors_int16 import Conv2dWideVectorsInt16
from .conv2d_winograd import Conv2dWinograd
from .depthwise_conv2d_5x5 import DepthwiseConv2d5x5, DepthwiseConv2d5x5OfInt4
from .depthwise_conv2d_5x5_int16 import DepthwiseConv2d5x5Int16
from .depthwise_conv2d_columns import DepthwiseConv2dColumns
from .depthwise_conv2d_int4_planes import DepthwiseConv2dInt4Planes
from .depthwise_conv2d_int4_vectors import DepthwiseConv2dInt4Vectors
from .depthwise_conv2d_lines import DepthwiseConv2dLines
from .depthwise_conv2d_planes import DepthwiseConv2dPlanes
from .depthwise_conv2d_planes_int16 import DepthwiseConv2dPlanesInt16
from .depthwise_conv2d_rows import DepthwiseConv2dRows, DepthwiseConv2dRowsOfInt4
from .depthwise_conv2d_tap_vectors import DepthwiseConv2dTapVectors
from .depthwise_conv2d_vectors import DepthwiseConv2dVectors
from .depthwise_conv2d_vectors_int16 import DepthwiseConv2dVectorsInt16
from .depthwise_conv2d_windows import DepthwiseConv2dWindows, DepthwiseConv2dWindowsOfInt4
from .fully_connected_as_conv2d import FullyConnectedAsConv2d
from .fully_connected_as_conv2d_int16 import FullyConnectedAsConv2dInt16
from .fully_connected_as_vectors import (
    FullyConnectedAsVectors,
    FullyConnectedAsVectorsInt16,
    FullyConnectedInt4AsVectors,
    FullyConnectedInt4AsVectorsInt16,
)
from .fully_connected_int4_as_conv2d import FullyConnectedInt4AsConv2d
from .fully_connected_int4_as_conv2d_int16 import FullyConnectedInt4AsConv2dInt16
from .fully_connected_int4_groups_pairs import FullyConnectedInt4GroupsPairs
from .fully_connected_int4_groups_vectors import FullyConnectedInt4GroupsVectors
from .fully_connected_int4_pairs import FullyConnectedInt4Pairs
from .fully_connected_int4_pairs_int16 import FullyConnectedInt4PairsInt16
from .fully_connected_int4_vectors import FullyConnectedInt4Vectors
from .fully_connected_int4_vectors_int16 import FullyConnectedInt4VectorsInt16
from .fully_connected_int4_wide_as_conv2d import FullyConnectedInt4WideAsConv2d
from .fully_connected_joint_as_conv2d import FullyConnectedJointAsConv2d
from .fully_connected_joint_pairs import FullyConnectedJointPairs
from .fully_connected_pairs import FullyConnectedPairs
from .fully_connected_pairs_int16 import FullyConnectedPairsInt16
from .fully_connected_vectors import FullyConnectedVectors
from .fully_connected_vectors_int16 import FullyConnectedVectorsInt16
from .lookup_vectors import LookupVectors
from .lookup_vectors_int16 import LookupVectorsInt16
from .max_pool2d_channels import MaxPool2dChannels, MaxPool2dChannelsInt16
from .mul_rounded import MulRounded, MulRoundedBroadcast
from .recurrent_projected import LstmProjectedPairs, LstmProjectedVectors
from .softmax_table import MaskedSoftmaxTable, SoftmaxTable
from .strided_copy_vectors import StridedCopyVectors, StridedCopyVectorsInt16

_CONV2D_JOINT_PAIRS = Conv2dJointPairs()
_CONV2D_PAIRS = Conv2dPairs()
_CONV2D_PAIRS_INT16 = Conv2dPairsInt16()
_CONV2D_INT4_PAIRS = Conv2dInt4Pairs()
_CONV2D_INT4_WIDE_PAIRS = Conv2dInt4WidePairs()
_CONV2D_INT4_VECTORS = Conv2dInt4Vectors()
_CONV2D_INT4_VECTORS_INT16 = Conv2dInt4VectorsInt16()
_CONV2D_VECTORS = Conv2dVectors()
_CONV2D_VECTORS_INT16 = Conv2dVectorsInt16()
_CONV2D_INT4_PAIRS_INT16 = Conv2dInt4PairsInt16()
_FULLY_CONNECTED_VECTORS = FullyConnectedVectors()
_FULLY_CONNECTED_VECTORS_INT16 = FullyConnectedVectorsInt16()
_FULLY_CONNECTED_INT4_VECTORS = FullyConnectedInt4Vectors()
_FULLY_CONNECTED_INT4_VECTORS_INT16 = FullyConnectedInt4VectorsInt16()

IMPLEMENTATIONS: tuple[OwnImplementation, ...] = (
    _CONV2D_JOINT_PAIRS,
    FullyConnectedJointPairs(),
    FullyConnectedJointAsConv2d(_CONV2D_JOINT_PAIRS),
    _CONV2D_PAIRS,
    DepthwiseConv2dPlanes(),
    FullyConnectedPairs(),
    FullyConnectedAsConv2d(_CONV2D_PAIRS),
    AddLinear(),
    _CONV2D_VECTORS,
    DepthwiseConv2dWindows(),
    DepthwiseConv2dColumns(),
    DepthwiseConv2dVectors(),
    Conv2dWinograd(),
    DepthwiseConv2dRows(),
    *recurrent_pairs.LAYERS,
    *recurrent_vectors.LAYERS,
    LstmProjectedPairs(),
    LstmProjectedVectors(),
    _CONV2D_PAIRS_INT16,
    FullyConnectedPairsInt16(),
    FullyConnectedAsConv2dInt16(_CONV2D_PAIRS_INT16),
    _CONV2D_INT4_PAIRS,
    FullyConnectedInt4Pairs(),
    FullyConnectedInt4AsConv2d(_CONV2D_INT4_PAIRS),
    _CONV2D_INT4_VECTORS,
    DepthwiseConv2dPlanesInt16(),
    AddPairsInt16(),
    _CONV2D_VECTORS_INT16,
    SoftmaxTable(),
    DepthwiseConv2dVectorsInt16(),
    FullyConnectedAsVectorsInt16(_CONV2D_VECTORS_INT16),
    _FULLY_CONNECTED_VECTORS_INT16,
    FullyConnectedAsVectors(_CONV2D_VECTORS),
    _FULLY_CONNECTED_VECTORS,
    _CONV2D_INT4_PAIRS_INT16,
    FullyConnectedInt4PairsInt16(),
    FullyConnectedInt4AsConv2dInt16(_CONV2D_INT4_PAIRS_INT16),
    DepthwiseConv2dInt4Planes(),
    DepthwiseConv2dInt4Vectors(),
    DepthwiseConv2dRowsOfInt4(),
    DepthwiseConv2dWindowsOfInt4(),
    FullyConnectedInt4AsVectors(_CONV2D_INT4_VECTORS),
    _FULLY_CONNECTED_INT4_VECTORS,
    _CONV2D_INT4_VECTORS_INT16,
    FullyConnectedInt4AsVectorsInt16(_CONV2D_INT4_VECTORS_INT16),
    _FULLY_CONNECTED_INT4_VECTORS_INT16,
    AddLinearBroadcast(),
    DepthwiseConv2dLines(),
    MaskedSoftmaxTable(),
    LookupVectors(),
    LookupVectorsInt16(),
    MulRounded(),
    MulRoundedBroadcast(),
    DepthwiseConv2dTapVectors(),
    DepthwiseConv2d5x5(),
    DepthwiseConv2d5x5OfInt4(),
    StridedCopyVectors(),
    StridedCopyVectorsInt16(),
    *recurrent_int4_pairs.LAYERS,
    FullyConnectedInt4GroupsPairs(),
    FullyConnectedInt4GroupsVectors(),
    *recurrent_int4_vectors.LAYERS,
    BatchMatmulPairs(),
    BatchMatmulVectors(),
    Conv2dGroupedPairs(),
    Conv2dGroupedPairsInt16(),
    Conv2dGroupedVectors(),
    Conv2dGroupedVectorsInt16(),
    Conv2dFewChannelsInt16(_CONV2D_VECTORS_INT16),
    Conv2dWideVectorsInt16(),
    BatchMatmulVectorsInt16(),
    Conv2dAsRow(_FULLY_CONNECTED_VECTORS),
    Conv2dAsRowInt16(_FULLY_CONNECTED_VECTORS_INT16),
    Conv2dInt4AsRow(_FULLY_CONNECTED_INT4_VECTORS),
    Conv2dInt4AsRowInt16(_FULLY_CONNECTED_INT4_VECTORS_INT16),
    MaxPool2dChannels(),
    AvgPool2dChannels(),
    MaxPool2dChannelsInt16(),
    _CONV2D_INT4_WIDE_PAIRS,
    FullyConnectedInt4WideAsConv2d(_CONV2D_INT4_WIDE_PAIRS),
    DepthwiseConv2d5x5Int16(),
)
