"""The kernel of each call, its scratch memory, and the bands of rows that chains of convolutions are computed in."""
