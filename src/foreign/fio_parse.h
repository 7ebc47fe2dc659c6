/* SPDX-License-Identifier: MIT */
#pragma once

/* fio_parse - options whose values are more than a number or a choice (fio_row.parse). */

#include "foreign/fio_options.h"

int fio_take_filesize(struct fio_setting *s);
int fio_take_file_service(struct fio_setting *s);
int fio_take_rw(struct fio_setting *s);
int fio_take_bs(struct fio_setting *s);
int fio_take_bsrange(struct fio_setting *s);
int fio_take_bssplit(struct fio_setting *s);
int fio_take_rwmixwrite(struct fio_setting *s);
int fio_take_distribution(struct fio_setting *s);
int fio_take_buffered(struct fio_setting *s);
int fio_take_sync(struct fio_setting *s);
int fio_take_startdelay(struct fio_setting *s);
int fio_take_flow(struct fio_setting *s);
int fio_take_steadystate(struct fio_setting *s);
int fio_take_replay_skip(struct fio_setting *s);
int fio_take_pattern(struct fio_setting *s);
int fio_take_verify(struct fio_setting *s);
int fio_take_cpus(struct fio_setting *s);
int fio_take_cpumask(struct fio_setting *s);
int fio_take_numa(struct fio_setting *s);
int fio_take_log(struct fio_setting *s);
int fio_take_percentiles(struct fio_setting *s);
int fio_take_kb_base(struct fio_setting *s);

/* A number of bytes, with a note when its unit was hardly meant. */
int fio_take_bytes(const struct fio_setting *s, const char *text, uint64_t *ret);
/* Read, write, trim: the last value is repeated, an empty field keeps what is there. */
int fio_take_bytes3(struct fio_setting *s, uint64_t ret[FIO_DIRECTIONS]);
