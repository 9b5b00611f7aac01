// Stand-in.
#pragma once
