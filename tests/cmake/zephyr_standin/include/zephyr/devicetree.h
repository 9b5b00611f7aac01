// Stand-in: a board whose devicetree chooses nothing.
#pragma once
#define DT_HAS_CHOSEN(property) 0
