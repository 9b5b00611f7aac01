"""Arguments of `cmsisnn etdump`."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("uart", metavar="UART.txt", help="what the device printed: lines that begin with ##")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.etdump")
