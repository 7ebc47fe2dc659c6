/* SPDX-License-Identifier: MIT */
/* Which file or device a job works on, and which part of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/text.h"
#include "base/units.h"
#include "foreign/fio_parts.h"

#define FILES_MAX 65536
#define PATH_BYTES_MAX 4090

/* The names a job has in mind, joined by '\n'. */
struct names {
	struct text list;
	uint64_t count;
	char first[4096];
	bool given; /* by filename, not made up */
	bool mapped;
};

/* Up to the next ':' that has no '\' before it; false at the end. */
static bool next_name(const char **rest, struct text *ret)
{
	const char *at = *rest;

	if (!*at)
		return false;
	while (*at && *at != ':') {
		if (*at == '\\' && at[1] == ':')
			at++;
		text_add_bytes(ret, at++, 1);
	}
	*rest = *at ? at + 1 : at;
	return true;
}

void fio_pick_name(const char *list, uint32_t index, struct text *ret)
{
	const char *rest = list;
	uint32_t count = 0, wanted;

	if (!list || !*list)
		return;
	for (struct text one = TEXT_INIT; next_name(&rest, &one); text_done(&one))
		count++;
	wanted = index % count;
	rest = list;
	for (uint32_t i = 0; i <= wanted; i++) {
		text_done(ret);
		next_name(&rest, ret);
	}
}

/* Of a list of directories, the one for this clone. */
static void directory_of(const struct fio_clone *clone, struct text *ret)
{
	fio_pick_name(clone->job->options.directory, clone->index, ret);
}

static const char *map_of(const struct fio_clone *clone, const char *name)
{
	const struct fio_request *request = clone->b->request;

	for (uint32_t i = 0; i < request->map_count; i++)
		if (strcmp(request->maps[i].name, name) == 0)
			return request->maps[i].path;
	return NULL;
}

static void add_name(const struct fio_clone *clone, struct names *names, const char *directory,
		     const char *name)
{
	struct text path = TEXT_INIT;
	const char *mapped;

	if (*directory)
		text_add(&path, "%s/", directory);
	text_add(&path, "%s", name);
	mapped = map_of(clone, text_string(&path));
	if (!mapped)
		mapped = map_of(clone, name);
	names->mapped |= mapped != NULL;
	if (!mapped)
		mapped = text_string(&path);
	if (strlen(mapped) > PATH_BYTES_MAX)
		fio_problem(clone->b, clone->job, names->given ? "filename" : "directory",
			    "the path is longer than %d bytes", PATH_BYTES_MAX);
	if (!names->count)
		snprintf(names->first, sizeof(names->first), "%.*s", PATH_BYTES_MAX, mapped);
	text_add(&names->list, "%s%s", names->count ? "\n" : "", mapped);
	names->count++;
	text_done(&path);
}

/* filename_format: $jobname, $jobnum, $filenum, $clientuid. */
static void format_name(const struct fio_clone *clone, uint64_t file, struct text *ret)
{
	const char *at = clone->job->options.filename_format;

	while (*at) {
		if (strncmp(at, "$jobname", 8) == 0) {
			text_add(ret, "%s", clone->job->options.name);
			at += 8;
		} else if (strncmp(at, "$jobnum", 7) == 0) {
			text_add(ret, "%u", clone->index);
			at += 7;
		} else if (strncmp(at, "$filenum", 8) == 0) {
			text_add(ret, "%llu", (unsigned long long)file);
			at += 8;
		} else if (strncmp(at, "$clientuid", 10) == 0) {
			text_add(ret, "localhost");
			at += 10;
		} else {
			text_add_bytes(ret, at++, 1);
		}
	}
}

static void find_names(const struct fio_clone *clone, struct names *ret)
{
	const struct fio_job_options *o = &clone->job->options;
	struct text directory = TEXT_INIT, name = TEXT_INIT;
	const char *rest = o->filename ? o->filename : "";

	directory_of(clone, &directory);
	while (next_name(&rest, &name)) {
		if (ret->count < FILES_MAX)
			add_name(clone, ret, text_string(&directory), text_string(&name));
		text_done(&name);
	}
	ret->given = ret->count > 0;
	for (uint64_t i = 0; !ret->given && i < o->nrfiles; i++) {
		format_name(clone, i, &name);
		add_name(clone, ret, text_string(&directory), text_string(&name));
		text_done(&name);
		/* The rest differ in $filenum alone, and are no more than numbers here. */
		if (ret->count == 1 && strstr(o->filename_format, "$filenum")) {
			ret->count = o->nrfiles;
			break;
		}
	}
	text_done(&directory);
}

/* Where a file would be made: its directory, "." for a bare name. */
static void parent_of(const char *path, char *ret, size_t ret_bytes)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		snprintf(ret, ret_bytes, ".");
	else if (slash == path)
		snprintf(ret, ret_bytes, "/");
	else
		snprintf(ret, ret_bytes, "%.*s", (int)(slash - path), path);
}

/* A path with a colon could be taken for another kind of target. */
static void path_spec(const char *path, char *ret, size_t ret_bytes)
{
	const bool bare = *path != '/' && strchr(path, ':');

	snprintf(ret, ret_bytes, "%s%.*s", bare ? "./" : "", PATH_BYTES_MAX, path);
}

/* Where device nodes live no file of ours belongs; /dev/shm is a file system like others. */
static bool is_device_name(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0;
}

struct found {
	char spec[4096];
	bool ours;
	uint64_t bytes; /* 0 = not known */
	enum fio_thing thing;
};

static bool is_engine(const struct fio_clone *clone, const char *name)
{
	return strcmp(clone->job->options.ioengine, name) == 0;
}

static void find_one(struct fio_clone *clone, const struct names *names, struct found *ret)
{
	const struct fio_world *world = clone->b->request->world;
	const struct fio_job_section *job = clone->job;

	ret->thing = world->look(world->ctx, names->first, &ret->bytes);
	path_spec(names->first, ret->spec, sizeof(ret->spec));
	if (names->mapped && strchr(names->first, ':')) {
		snprintf(ret->spec, sizeof(ret->spec), "%s", names->first);
		return;
	}
	switch (ret->thing) {
	case FIO_NOTHING:
		if (is_device_name(names->first))
			return;
		ret->ours = true;
		parent_of(names->first, ret->spec, sizeof(ret->spec));
		break;
	case FIO_DIRECTORY:
		if (names->mapped) {
			ret->ours = true;
			break;
		}
		fio_problem(clone->b, job, "filename",
			    "%.200s is a directory; name a file or a device in "
			    "it, or write directory=",
			    names->first);
		break;
	case FIO_FILE:
		if (names->given)
			break;
		ret->ours = true;
		ret->bytes = 0;
		parent_of(names->first, ret->spec, sizeof(ret->spec));
		fio_note(clone->b, job, "",
			 "%.200s is there already and stays as it is; tare uses a file "
			 "of its own",
			 names->first);
		break;
	case FIO_ZONED_DEVICE:
		if (job->options.zonemode == 2)
			fio_problem(clone->b, job, "zonemode",
				    "%.200s has zones that must be written in order, which is not "
				    "supported",
				    names->first);
		break;
	case FIO_OTHER:
		fio_problem(clone->b, job, "filename", "%.200s is neither file nor device",
			    names->first);
		break;
	case FIO_DEVICE:
	case FIO_CHAR_DEVICE:
		break;
	}
}

/* What is there, joined; what is not, files of tare's own in one directory. */
struct many {
	struct text join;
	uint64_t there_count, least_bytes;
	bool one_directory;
};

static void look_at_many(struct fio_clone *clone, const struct names *names, const char *directory,
			 struct many *ret)
{
	const struct fio_world *world = clone->b->request->world;
	DEFER(defer_free) char *copy = strdup(text_string(&names->list));
	char parent[4096], *line, *rest = copy;

	if (!copy)
		abort();
	ret->one_directory = true;
	while ((line = strsep(&rest, "\n"))) {
		uint64_t bytes;
		const enum fio_thing thing =
			names->given ? world->look(world->ctx, line, &bytes) : FIO_NOTHING;

		text_add(&ret->join, "%s", ret->join.length ? ":" : "join:");
		for (const char *c = line; *c; c++)
			text_add(&ret->join, *c == ':' || *c == '\\' ? "\\%c" : "%c", *c);
		parent_of(line, parent, sizeof(parent));
		ret->one_directory &= strcmp(parent, directory) == 0;
		if (thing == FIO_DIRECTORY || thing == FIO_OTHER || thing == FIO_CHAR_DEVICE)
			fio_problem(clone->b, clone->job, "filename",
				    "%.200s is neither file nor disk", line);
		if (thing == FIO_NOTHING && !is_device_name(line))
			continue;
		if (!ret->there_count++ || bytes < ret->least_bytes)
			ret->least_bytes = thing == FIO_NOTHING ? 0 : bytes;
	}
}

static void find_many(struct fio_clone *clone, const struct names *names, struct found *ret)
{
	struct many many = { .join = TEXT_INIT };

	parent_of(names->first, ret->spec, sizeof(ret->spec));
	look_at_many(clone, names, ret->spec, &many);
	ret->ours = !many.there_count;
	if (many.there_count && many.there_count < names->count)
		fio_problem(clone->b, clone->job, "filename",
			    "some of these are there and some are not; write a job for each");
	else if (!many.there_count && !many.one_directory)
		fio_problem(
			clone->b, clone->job, "filename",
			"the files of one job are in different directories; write a job for each");
	else if (many.join.length >= sizeof(ret->spec))
		fio_problem(clone->b, clone->job, "filename", "too long a list");
	else if (many.there_count)
		snprintf(ret->spec, sizeof(ret->spec), "%s", text_string(&many.join));
	ret->thing = FIO_DEVICE;
	ret->bytes = many.least_bytes * names->count;
	text_done(&many.join);
}

static void find_target(struct fio_clone *clone, const struct names *names, struct found *ret)
{
	*ret = (struct found){ 0 };
	if (is_engine(clone, "null")) {
		ret->ours = true;
		snprintf(ret->spec, sizeof(ret->spec), "null:");
	} else if (names->count == 1) {
		find_one(clone, names, ret);
	} else {
		find_many(clone, names, ret);
	}
}

/* The place of the names: the same one for all who name the same. */
static struct fio_place *place_for(struct fio_clone *clone, const struct names *names,
				   const struct found *found)
{
	struct fio_builder *b = clone->b;
	struct text key = TEXT_INIT;
	struct fio_place *place;

	text_add(&key, "%s%llu\n%s", is_engine(clone, "null") ? "null\n" : "",
		 (unsigned long long)names->count, text_string(&names->list));
	for (size_t i = 0; i < b->place_count; i++) {
		if (strcmp(b->places[i].key, text_string(&key)) == 0) {
			text_done(&key);
			return &b->places[i];
		}
	}
	b->places = reallocarray(b->places, b->place_count + 1, sizeof(*b->places));
	if (!b->places)
		abort();
	place = &b->places[b->place_count++];
	*place = (struct fio_place){
		.key = text_take(&key),
		.target_index = plan_add_target(&b->t->plan, found->spec),
	};
	return place;
}

static uint64_t up_to(uint64_t bytes, uint64_t multiple)
{
	const uint64_t rest = multiple ? bytes % multiple : 0;

	return rest ? bytes + multiple - rest : bytes;
}

/* A share of the whole, upwards to a block; bytes as they are; zones by their size. */
static uint64_t amount_of(const struct fio_clone *clone, const struct fio_amount *amount,
			  uint64_t whole_bytes, uint64_t align_bytes)
{
	if (amount->percent)
		return up_to((uint64_t)((unsigned __int128)whole_bytes * amount->percent / 100),
			     align_bytes);
	if (amount->zones)
		return amount->zones * clone->job->options.zonesize;
	return amount->bytes;
}

static bool has_zones(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	const bool counts = o->size.zones || o->offset.zones || o->offset_increment.zones;

	if (counts && !o->zonesize)
		fio_problem(clone->b, clone->job, "size", "sizes in zones (z) need zonesize");
	return !counts || o->zonesize;
}

static uint64_t offset_of(struct fio_clone *clone, uint64_t whole_bytes)
{
	const struct fio_job_options *o = &clone->job->options;
	const uint64_t align = o->offset_align ? o->offset_align : clone->block_min_bytes;
	const uint64_t each = amount_of(clone, &o->offset_increment, whole_bytes, align);
	uint64_t offset = amount_of(clone, &o->offset, whole_bytes, align);

	if ((o->offset.percent || o->offset_increment.percent) && !whole_bytes)
		fio_problem(clone->b, clone->job, o->offset.percent ? "offset" : "offset_increment",
			    "a share of something whose size is not known");
	if (o->offset_align)
		offset = up_to(offset, o->offset_align);
	if (each > (INT64_MAX - offset) / (clone->index + 1)) {
		fio_problem(clone->b, clone->job, "offset_increment", "too large");
		return 0;
	}
	return offset + each * clone->index;
}

/* Blocks that fit whole; what is left over stays untouched. */
static uint64_t whole_blocks(struct fio_clone *clone, uint64_t bytes)
{
	const uint64_t rest = bytes % clone->block_min_bytes;

	if (rest && bytes > rest)
		fio_note(clone->b, clone->job, "size",
			 "the last %llu bytes are less than a block and stay untouched",
			 (unsigned long long)rest);
	return bytes - rest;
}

static void place_existing(struct fio_clone *clone, const struct found *found)
{
	const struct fio_job_options *o = &clone->job->options;
	const uint64_t whole = found->bytes;
	uint64_t range = amount_of(clone, &o->size, whole, 0);
	char text[2][UNITS_TEXT_BYTES];

	clone->target_bytes = whole;
	clone->offset_bytes = offset_of(clone, whole);
	if (!whole) {
		/* Not here, or of no size: the gate will say. */
		clone->workload->size.bytes = range;
		clone->workload->size.ppm = o->size.percent * (PPM / 100);
		clone->workload->offset.bytes = clone->offset_bytes;
		clone->range_bytes = range;
		return;
	}
	if (clone->offset_bytes >= whole) {
		fio_problem(clone->b, clone->job, "offset",
			    "clone %u would start at %s, behind the end at %s", clone->index,
			    units_format_bytes(clone->offset_bytes, text[0]),
			    units_format_bytes(whole, text[1]));
		return;
	}
	if (!o->size.percent && range > whole - clone->offset_bytes &&
	    found->thing != FIO_CHAR_DEVICE) {
		fio_problem(
			clone->b, clone->job, "size", "%s do not fit into what is there (%s); %s",
			units_format_bytes(range, text[0]), units_format_bytes(whole, text[1]),
			found->thing == FIO_FILE ? "fio would write the file anew, tare never does"
						 : "ask for less");
		return;
	}
	if (!range || range > whole - clone->offset_bytes)
		range = whole - clone->offset_bytes;
	range = whole_blocks(clone, range);
	clone->range_bytes = range;
	clone->workload->offset.bytes = clone->offset_bytes;
	clone->workload->size.bytes = range;
}

/*
 * A job without a size on a file that another makes gets all of it. Where the words are only
 * looked at, the file may be there when they are run.
 */
static bool rest_of(struct fio_clone *clone, const struct plan_target *target)
{
	if (clone->shared) {
		clone->target_bytes = target->size_bytes;
		if (target->size_bytes > clone->offset_bytes)
			clone->range_bytes = target->size_bytes - clone->offset_bytes;
		clone->workload->offset.bytes = clone->offset_bytes;
		clone->workload->size.bytes = clone->range_bytes;
		return true;
	}
	if (clone->b->t->action == FIO_RUN || !clone->job->options.filename)
		return false;
	fio_note(clone->b, clone->job, "filename",
		 "must be there when this is run: no size is given");
	return true;
}

/* What of a file still to be made the job works on: fio's rules for size and filesize. */
static void place_ours(struct fio_clone *clone, struct plan_target *target, uint64_t file_count)
{
	const struct fio_job_options *o = &clone->job->options;
	const uint64_t files_bytes = o->filesize[0] * file_count;
	const uint64_t whole = files_bytes ? files_bytes : amount_of(clone, &o->size, 0, 0);
	uint64_t range = o->size.percent ? amount_of(clone, &o->size, files_bytes, 0) : whole, need;

	if (o->size.percent && !files_bytes) {
		fio_problem(clone->b, clone->job, "size",
			    "a share needs an existing file, a device or filesize; to fill a file "
			    "system "
			    "give its size");
		return;
	}
	if (files_bytes && o->size.set && !o->size.percent)
		range = amount_of(clone, &o->size, 0, 0);
	clone->offset_bytes = offset_of(clone, whole);
	if (files_bytes && range > files_bytes - clone->offset_bytes)
		range = files_bytes > clone->offset_bytes ? files_bytes - clone->offset_bytes : 0;
	if (!range && o->fill_device) {
		fio_note(clone->b, clone->job, "fill_device",
			 "the file system is not filled: the test file has tare's usual size");
		return;
	}
	if (!range && !whole && rest_of(clone, target))
		return;
	range = whole_blocks(clone, range);
	if (!range) {
		fio_problem(clone->b, clone->job, whole ? "offset" : "size",
			    whole ? "nothing is left for clone %u"
				  : "size= or filesize= is missing",
			    clone->index);
		return;
	}
	need = clone->offset_bytes + range;
	if (files_bytes > need)
		need = files_bytes;
	if (target->size_bytes < need)
		target->size_bytes = need;
	clone->range_bytes = range;
	clone->target_bytes = need;
	clone->workload->offset.bytes = clone->offset_bytes;
	clone->workload->size.bytes = range;
}

/* Of several that are there each is used alike, so far as the smallest of them. */
static void set_joined(struct fio_clone *clone, struct plan_target *target)
{
	const struct fio_job_options *o = &clone->job->options;

	if (clone->file_count < 2)
		return;
	if (o->offset.set || o->offset_increment.set)
		fio_problem(clone->b, clone->job, "offset",
			    "an offset in each of several files is not "
			    "supported");
	if (o->file_service == 2 || (o->file_service == 1 && !workload_is_random(clone->workload)))
		fio_problem(clone->b, clone->job, "file_service_type",
			    "of several devices only roundrobin is supported");
	target->stripe_bytes = clone->block_max_bytes * o->file_service_count;
}

/* Requests go to the files in turn: a stripe is what one gets before the next. */
static void set_files(struct fio_clone *clone, struct plan_target *target, uint64_t file_count)
{
	const struct fio_job_options *o = &clone->job->options;
	const bool random = workload_is_random(clone->workload);
	uint64_t each, stripe = 0;

	if (file_count < 2)
		return;
	if (o->offset.set || o->offset_increment.set) {
		fio_problem(clone->b, clone->job, "offset",
			    "an offset in each of several files is not "
			    "supported");
		return;
	}
	if (o->file_service == 1 && !random)
		fio_problem(
			clone->b, clone->job, "file_service_type",
			"random order over files with sequential requests is not supported; use "
			"roundrobin or sequential");
	if (o->file_service == 0 && !random) {
		stripe = clone->block_max_bytes * o->file_service_count;
		if (clone->workload->size_mix.count)
			fio_note(clone->b, clone->job, "file_service_type",
				 "the next file comes after the largest block's length, not after "
				 "each "
				 "request");
	}
	/* Equal files of whole blocks, and of whole stripes. */
	each = clone->range_bytes / file_count;
	each -= each % (stripe ? stripe : clone->block_min_bytes);
	if (!each) {
		fio_problem(clone->b, clone->job, "size",
			    "less than a block for each of %llu files",
			    (unsigned long long)file_count);
		return;
	}
	target->file_count = (uint32_t)file_count;
	target->stripe_bytes = stripe;
	if (!o->filesize[0])
		target->size_bytes = each * file_count;
	clone->range_bytes = each * file_count;
	clone->workload->size.bytes = clone->range_bytes;
}

/* The null target has a size of its own, of at least one block. */
static void size_null(struct plan_target *target)
{
	const uint64_t bytes = target->size_bytes < 4096 ? 4096 : target->size_bytes;
	char text[UNITS_TEXT_BYTES];

	snprintf(target->spec, sizeof(target->spec), "null:size=%s",
		 units_format_bytes(bytes, text));
}

static void use_null(struct plan *plan, const struct fio_place *place)
{
	struct plan_target *target = &plan->targets[place->target_index];

	size_null(target);
	if (place->target_index == 0)
		memcpy(plan->target, target->spec, sizeof(plan->target));
}

/* Whether the first writes are to find the file written already, as a file in use would be. */
static void set_layout(struct fio_clone *clone, struct plan_target *target)
{
	const struct fio_job_options *o = &clone->job->options;

	if (clone->shared || clone->reads || !clone->writes || o->overwrite ||
	    is_engine(clone, "null"))
		return;
	if (clone->b->request->exact)
		target->unwritten = true;
	else
		fio_note_all(
			clone->b,
			"files are written in full before a job writes to them, where fio lets "
			"the first writes allocate them (--exact does too)");
}

static void use_place(struct fio_clone *clone, const struct names *names, const struct found *found)
{
	struct plan *plan = &clone->b->t->plan;
	const size_t known = clone->b->place_count;
	struct fio_place *place = place_for(clone, names, found);
	struct plan_target *target = &plan->targets[place->target_index];

	clone->target_index = place->target_index;
	clone->ours = found->ours;
	clone->shared = clone->b->place_count == known;
	memcpy(clone->file_name, names->first, sizeof(clone->file_name));
	clone->file_count = names->count;
	if (!found->ours) {
		place_existing(clone, found);
		set_joined(clone, target);
		return;
	}
	place_ours(clone, target, names->count);
	set_layout(clone, target);
	if (is_engine(clone, "null"))
		use_null(plan, place);
	else
		set_files(clone, target, names->count);
}

static void use_recorded(struct fio_clone *clone, const struct names *names,
			 const struct found *found)
{
	struct plan *plan = &clone->b->t->plan;
	const size_t known = clone->b->place_count;
	const uint64_t need_bytes = up_to(clone->workload->size.bytes, 4096);
	struct fio_place *place = place_for(clone, names, found);
	struct plan_target *target = &plan->targets[place->target_index];

	clone->target_index = place->target_index;
	clone->ours = found->ours;
	clone->shared = clone->b->place_count == known;
	memcpy(clone->file_name, names->first, sizeof(clone->file_name));
	clone->file_count = 1;
	clone->target_bytes = found->bytes;
	clone->range_bytes = clone->workload->size.bytes;
	if (!found->ours)
		return;
	if (target->size_bytes < need_bytes)
		target->size_bytes = need_bytes;
	clone->target_bytes = target->size_bytes;
	set_layout(clone, target);
	if (is_engine(clone, "null"))
		use_null(plan, place);
}

bool fio_files_resolve(const struct fio_clone *clone, const char *name, struct text *ret)
{
	const char *mapped = map_of(clone, name);
	struct text directory = TEXT_INIT, own = TEXT_INIT;
	struct names names = { .list = TEXT_INIT };
	bool found = mapped || is_engine(clone, "null");

	text_add(ret, "%s", is_engine(clone, "null") ? "null" : mapped ? mapped : "");
	if (!found) {
		directory_of(clone, &directory);
		text_add(&own, "%s%s%s\n", text_string(&directory), directory.length ? "/" : "",
			 name);
		find_names(clone, &names);
		text_add(&names.list, "\n");
	}
	/* With the job's directory before it, or as it is. */
	for (const char *line = text_string(&names.list); !found && *line;
	     line += strcspn(line, "\n") + 1) {
		const size_t length = strcspn(line, "\n");

		found = strncmp(line, text_string(&own), own.length) == 0 ||
			(strlen(name) == length && strncmp(line, name, length) == 0);
		if (found)
			text_add_bytes(ret, line, length);
	}
	text_done(&directory);
	text_done(&own);
	text_done(&names.list);
	return found;
}

void fio_files_use(struct fio_clone *clone, const char *path)
{
	const struct fio_request *request = clone->b->request;
	const struct fio_job_options *o = &clone->job->options;
	struct names names = { .list = TEXT_INIT };
	struct found found;

	add_name(clone, &names, "", path);
	for (uint32_t i = 0; i < request->map_count; i++)
		names.mapped |= strcmp(request->maps[i].path, path) == 0;
	names.given = names.mapped || o->filename || o->replay_redirect;
	find_target(clone, &names, &found);
	use_recorded(clone, &names, &found);
	text_done(&names.list);
}

void fio_files_find(struct fio_clone *clone)
{
	struct names names = { .list = TEXT_INIT };
	struct found found;

	find_names(clone, &names);
	find_target(clone, &names, &found);
	if (has_zones(clone))
		use_place(clone, &names, &found);
	text_done(&names.list);
}
