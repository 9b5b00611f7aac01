"""Networks of torchvision and timm, with random weights, if these packages can be imported."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping

import torch

from tests.coverage.networks import Network

_SIZE = 96
_TORCHVISION = (
    "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_5", "squeezenet1_1", "mnasnet0_5", "resnet18",
    "efficientnet_b0", "regnet_x_400mf",
)  # fmt: skip
_TIMM = ("mobilenetv4_conv_small", "ghostnet_050", "repvgg_a0", "tinynet_e", "test_vit")
_SIZES = {"test_vit": 160}  # its positions are for this one


def missing() -> list[str]:
    """Returns the packages that cannot be imported."""
    return [name for name in ("torchvision", "timm") if importlib.util.find_spec(name) is None]


def hub_networks() -> Mapping[str, Callable[[], Network]]:
    """Returns the networks of the packages that are there, by the name of the package and their own."""
    absent = missing()
    found = {}
    if "torchvision" not in absent:
        found |= {f"torchvision/{name}": _network("torchvision", name) for name in _TORCHVISION}
    if not absent:  # timm imports torchvision
        found |= {f"timm/{name}": _network("timm", name) for name in _TIMM}
    return found


def _network(package: str, name: str) -> Callable[[], Network]:
    def network() -> Network:
        _declare_operators()
        torch.manual_seed(0)
        if package == "timm":
            module = importlib.import_module("timm").create_model(name, pretrained=False)
        else:
            module = getattr(importlib.import_module("torchvision.models"), name)(weights=None)
        size = _SIZES.get(name, _SIZE)
        observe_norms(module.eval(), size)
        return Network(module, (torch.randn(1, 3, size, size),))

    return network


def observe_norms(module: torch.nn.Module, size: int) -> None:
    """Gives the batch norms the statistics of random images. With those of a new module, numbers shrink or grow from
    layer to layer until the result does not depend on the image."""
    norms = [part for part in module.modules() if isinstance(part, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None  # the average of all batches
        norm.train()
    if norms:
        with torch.no_grad():
            module(torch.randn(8, 3, size, size))
    module.eval()


_declared: list[torch.library.Library] = []


def _declare_operators() -> None:
    """Lets torchvision's Python files be imported where its library of operators does not fit the installed PyTorch. No
    network here calls them."""
    if not _declared and not hasattr(torch.ops.torchvision, "nms"):
        library = torch.library.Library("torchvision", "FRAGMENT")
        for operator in ("nms", "qnms"):
            library.define(f"{operator}(Tensor boxes, Tensor scores, float threshold) -> Tensor")
        _declared.append(library)
