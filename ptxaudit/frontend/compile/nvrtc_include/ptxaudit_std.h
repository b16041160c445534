#pragma once
// libcu++'s names under their standard name. Names that NVRTC itself declares in std come first in
// a qualified look-up, so nothing becomes ambiguous.
namespace cuda { namespace std {} }
namespace std {
using namespace ::cuda::std;
using ::size_t;
using ::ptrdiff_t;
}
