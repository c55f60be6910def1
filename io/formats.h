// SPDX-License-Identifier: Apache-2.0
// One line per format: its row, defined at the end of the file that implements it.
#ifndef PS_IO_FORMATS_H
#define PS_IO_FORMATS_H

#include "io/format.h"

#endif
