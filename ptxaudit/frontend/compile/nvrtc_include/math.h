#pragma once
// The functions are built in; libcu++'s <cmath> costs a second, so C's header leaves it out.
#include "ptxaudit_math_constants.h"
#include "ptxaudit_std.h"
