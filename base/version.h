// SPDX-License-Identifier: Apache-2.0
#ifndef PS_BASE_VERSION_H
#define PS_BASE_VERSION_H

#define PENSTOCK_VERSION "0.1.0"

#endif
