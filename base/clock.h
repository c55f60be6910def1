// SPDX-License-Identifier: Apache-2.0
// Monotonic time.
#ifndef PS_BASE_CLOCK_H
#define PS_BASE_CLOCK_H

#include <stdint.h>

int64_t ps_clock_ns(void);
double ps_clock_ms(void); // the same clock in milliseconds

#endif
