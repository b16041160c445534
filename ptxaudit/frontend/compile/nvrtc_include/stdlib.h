#pragma once
// What device code uses of it is built into NVRTC.
#include "ptxaudit_std.h"
