/* SPDX-License-Identifier: MIT */
#include "cli/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defer.h"

static int make_file(const char *path, FILE **ret, struct err *err)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 && errno == EEXIST)
		return err_set(err, -EEXIST,
				"'%s' is there already; a recording makes a new file", path);
	if (fd < 0)
		return err_errno(err, -errno, "'%s'", path);
	*ret = fdopen(fd, "w");
	if (*ret)
		return 0;
	close(fd);
	unlink(path);
	return err_set(err, -ENOMEM, "no memory to write '%s'", path);
}

int record_open(struct record_files *ret, const char *path, struct err *err)
{
	int r;

	*ret = (struct record_files){ .iolog = NULL };
	if (strlen(path) >= sizeof(ret->path))
		return err_set(err, -ENAMETOOLONG, "the path of the recording is too long");
	strcpy(ret->path, path);
	snprintf(ret->table_path, sizeof(ret->table_path), "%s.csv", path);
	r = make_file(ret->path, &ret->iolog, err);
	if (r == 0)
		r = make_file(ret->table_path, &ret->table, err);
	if (r < 0)
		record_close(ret, false);
	return r;
}

/* Only what was made here is removed. */
static void close_one(FILE **file, const char *path, bool keep)
{
	if (!*file)
		return;
	fclose(*file);
	*file = NULL;
	if (!keep)
		unlink(path);
}

void record_close(struct record_files *files, bool keep)
{
	close_one(&files->iolog, files->path, keep);
	close_one(&files->table, files->table_path, keep);
}

static const struct target_info *target_of(const struct result *result, const struct measurement *m)
{
	if (m->target_index > 0 && m->target_index <= result->more_target_count)
		return &result->more_targets[m->target_index - 1];
	return &result->target;
}

static void describe(const struct target_info *info, struct text *ret)
{
	text_add(ret, "target %s", info->spec);
	if (info->path[0] && strcmp(info->path, info->spec) != 0)
		text_add(ret, " (%s)", info->path);
	if (info->model[0])
		text_add(ret, ", %s", info->model);
	if (info->serial[0])
		text_add(ret, ", serial %s", info->serial);
	text_add(ret, ", %" PRIu64 " bytes", info->size_bytes);
}

int record_write(struct record_files *files, const struct recording *recording,
		 const struct result *result, struct err *err)
{
	DEFER(defer_free) const char **names = calloc(result->measurement_count + 1, sizeof(char *));
	struct text about = TEXT_INIT;
	int r;

	if (!names)
		return err_set(err, -ENOMEM, "no memory to write the recording");
	for (size_t i = 0; i < result->measurement_count; i++)
		names[i] = target_of(result, &result->measurements[i])->spec;
	describe(&result->target, &about);
	if (recording->lost_count)
		text_add(&about, "; %" PRIu64 " requests are missing: they could not be written in time",
			 (uint64_t)recording->lost_count);
	r = trace_write_recording(recording,
				  &(struct trace_output){
					  .iolog = files->iolog,
					  .table = files->table,
					  .about = text_string(&about),
					  .names = names,
					  .name_count = result->measurement_count,
				  },
				  err);
	text_done(&about);
	return r < 0 ? err_wrap(err, "%s", files->path) : 0;
}
