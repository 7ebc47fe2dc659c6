/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * workload_values - how those members of a workload are written that are more than a number
 * or a choice. Functions of rows of workload_fields: see struct field, parse and print.
 */

#include "base/err.h"
#include "base/text.h"

int workload_parse_rw(void *member, const char *value, struct err *err);
int workload_parse_engine(void *member, const char *value, struct err *err);
int workload_parse_sync(void *member, const char *value, struct err *err);
int workload_parse_write_share(void *member, const char *value, struct err *err);
int workload_parse_buffered(void *member, const char *value, struct err *err);
int workload_parse_zero_buffers(void *member, const char *value, struct err *err);
int workload_parse_think(void *member, const char *value, struct err *err);
int workload_parse_steady(void *member, const char *value, struct err *err);
int workload_parse_pattern(void *member, const char *value, struct err *err);
int workload_parse_lines(void *member, const char *value, struct err *err);
void workload_print_lines(const void *member, struct text *ret);
int workload_parse_split(void *member, const char *value, struct err *err);
int workload_parse_distribution(void *member, const char *value, struct err *err);
int workload_parse_cpus(void *member, const char *value, struct err *err);

void workload_print_pattern(const void *member, struct text *ret);
void workload_print_split(const void *member, struct text *ret);
void workload_print_distribution(const void *member, struct text *ret);
