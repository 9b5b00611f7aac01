"""The board and the memories that `cmsisnn compile` is given."""

from __future__ import annotations

import argparse
from typing import Optional

from ..support.errors import UserError
from ..targets.board import Board
from ..targets.memory import Memory


def board_of(arguments: argparse.Namespace) -> Optional[Board]:
    """Returns the board of `compile`, if there is one, and sets the target if it is not given."""
    if arguments.board is None:
        if arguments.target is None:
            raise UserError("give --target, a core that `cmsisnn targets` lists, or --board")
        return None
    board = Board.of(arguments.board)
    arguments.target = board.target(arguments.target).name
    return board


def memories_of(arguments: argparse.Namespace) -> list[Memory]:
    """Returns the memories that the model is given; none means one of any size."""
    if getattr(arguments, "board", None) is not None:
        return Board.of(arguments.board).memories_of(arguments.memory or ["RAM"])
    try:
        return [Memory.of(text) for text in getattr(arguments, "memory", ())]
    except ValueError as error:
        raise UserError(str(error)) from error
