#pragma once
#include "cstddef"
