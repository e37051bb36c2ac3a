/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For programs written for SpeedShop's own library. There, ssrt_caliper_point takes flags, which
 * never had a meaning, before its label. See ssapi(3). */
#ifndef SPEEDSHOP_API_H
#define SPEEDSHOP_API_H

#include "../speedshop.h"

#define ssrt_caliper_point(flags, label) ((void)(flags), (ssrt_caliper_point)(label))

#endif
