/* SPDX-License-Identifier: MIT */
#pragma once

/* protocol_text - protocols, forecasts and outcomes as text and JSON. */

#include "base/text.h"
#include "protocol/protocol.h"
#include "report/report.h"

void protocol_text_list(bool json, struct text *ret);
void protocol_text_forecast(const struct protocol *protocol, const struct protocol_outcome *outcome,
			    bool json, struct text *ret);
void protocol_text_outcome(const struct protocol *protocol, const struct protocol_outcome *outcome,
			   const struct report_style *style, struct text *ret);
void protocol_json_outcome(const struct protocol *protocol, const struct protocol_outcome *outcome,
			   struct text *ret);
