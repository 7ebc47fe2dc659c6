#include "base/check.h"
static void x(void) { CHECK(true); }
TESTS(TEST(x))
