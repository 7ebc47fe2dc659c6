/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/defer.h"
#include "serve/calibrate.h"
#include "serve/clean.h"
#include "serve/file.h"
#include "serve/live.h"
#include "serve/loop.h"
#include "serve/registry.h"
#include "serve/serve.h"

#define POLL_MS 100

struct serving {
	const struct serve_options *options;
	struct live *live;
	struct file *file;
	struct registry_entry entry;
	char path[4200];		/* of the file */
	char device[LOOP_PATH_BYTES];
	bool entered;			/* in the registry */
};

/* --- putting up ---------------------------------------------------------------------------- */

static int check_empty(const char *path, struct err *err)
{
	DEFER(defer_closedir) DIR *directory = opendir(path);
	struct dirent *name;

	if (!directory) {
		err_errno(err, -errno, "open '%s'", path);
		if (errno == ENOTCONN)
			err_hint(err, "a server died there; 'tare sim clean' removes what it left");
		return err ? err->code : -errno;
	}
	while ((name = readdir(directory)))
		if (strcmp(name->d_name, ".") != 0 && strcmp(name->d_name, "..") != 0)
			return err_set(err, -ENOTEMPTY, "'%s' is not empty; what is in it would be "
				       "hidden by the drive", path);
	return 0;
}

static int prepare_directory(struct serving *s, struct err *err)
{
	const char *given = s->options->directory;
	DEFER(defer_free) char *path = NULL;
	int r;

	s->entry.made_directory = mkdir(given, 0700) == 0;
	if (!s->entry.made_directory && errno != EEXIST)
		return err_errno(err, -errno, "make the directory '%s'", given);
	r = s->entry.made_directory ? 0 : check_empty(given, err);
	if (r < 0)
		return r;
	path = realpath(given, NULL);
	if (!path || strlen(path) >= sizeof(s->entry.directory))
		return err_errno(err, path ? -ENAMETOOLONG : -errno, "directory '%s'", given);
	strcpy(s->entry.directory, path);
	snprintf(s->path, sizeof(s->path), "%s/" FILE_NAME, path);
	return 0;
}

/* With a limit, locking would succeed now and allocation fail later. */
static bool may_lock_all(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct rlimit limit;

	if (syscall(SYS_capget, &header, caps) == 0 &&
	    (caps[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)))
		return true;
	return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

/*
 * A server whose memory is reclaimed by writing to itself waits for itself: it is locked,
 * and told to the kernel as one that I/O depends on. Pages are locked as they are used, so
 * that a large sparse drive takes no more memory than without.
 */
static bool lock_memory(void)
{
	return may_lock_all() && mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0;
}

static int put_up_loop(struct serving *s, struct err *err)
{
	const struct sim_identity *id = live_identity(s->live);
	int r;

	r = loop_attach(&s->entry.loop, s->path, (uint32_t)id->logical_block_bytes,
			id->discard, err);
	if (r < 0)
		return r;
	loop_path(s->entry.loop, s->device);
	return registry_write(&s->entry, err);
}

static int put_up(struct serving *s, struct err *err)
{
	const bool loop = s->options->loop;
	int r;

	if (loop && access("/dev/loop-control", R_OK | W_OK) < 0) {
		err_errno(err, -errno, "open '/dev/loop-control'");
		return err_hint(err, "--loop needs root; without it the drive is a file");
	}
	r = prepare_directory(s, err);
	if (r < 0)
		return r;
	r = registry_write(&s->entry, err);
	if (r < 0)
		return r;
	s->entered = true;
	r = file_open(&s->file, &(struct file_options){ s->live, s->entry.directory, loop }, err);
	if (r < 0)
		return r;
	return loop ? put_up_loop(s, err) : 0;
}

/* --- taking down --------------------------------------------------------------------------- */

static int take_down(struct serving *s, struct err *err)
{
	const struct loop_observer observer = { s->options->ctx, s->options->note };
	struct err ignored;
	int r = 0;

	/* While the file still answers: file systems write back what they hold. */
	if (s->entry.loop >= 0)
		r = loop_remove(s->entry.loop, &observer, &ignored);
	file_close(s->file);
	s->file = NULL;
	/* Whoever still had it open gets errors now, and mostly gives up. */
	if (r < 0)
		r = loop_remove(s->entry.loop, &observer, err);
	if (s->entry.made_directory && rmdir(s->entry.directory) < 0 && errno != ENOENT && r == 0)
		r = err_errno(err, -errno, "remove '%s'", s->entry.directory);
	if (s->entered && r == 0)
		registry_remove(&s->entry);	/* else it stays, for clean */
	return r;
}

/* --- serving ------------------------------------------------------------------------------- */

static int announce(struct serving *s, bool locked, bool io_flusher, struct err *err)
{
	const struct serve_options *options = s->options;
	const char *path = s->device[0] ? s->device : s->path;
	struct calibration calibration;
	const int r = calibrate(&calibration, s->file, path, err);

	if (r < 0)
		return r;
	live_deduct(s->live, calibration.overhead_ns);
	options->ready(options->ctx, &(struct serve_ready){
		.spec = live_spec(s->live),
		.model = live_identity(s->live)->model,
		.file = s->path,
		.device = s->device,
		.pid = getpid(),
		.capacity_bytes = live_identity(s->live)->capacity_bytes,
		.floor_ns = calibration.floor_ns,
		.deducted_ns = calibration.overhead_ns,
		.residual_ns_p50 = calibration.residual_ns_p50,
		.residual_ns_p99 = calibration.residual_ns_p99,
		.real_time = file_is_real_time(s->file),
		.locked = locked,
		.io_flusher = io_flusher,
	});
	return 0;
}

int serve_run(const struct serve_options *options, struct err *err)
{
	struct serving s = { .options = options };
	struct err later = { 0 };
	bool locked, io_flusher;
	int r, down;

	registry_entry_init(&s.entry);
	r = live_open(&s.live, options->spec, err);
	if (r < 0)
		return r;
	/* Both before any thread starts: they inherit them. */
	io_flusher = prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) == 0;
	locked = lock_memory();
	r = put_up(&s, err);
	if (r == 0)
		r = announce(&s, locked, io_flusher, err);
	while (r == 0 && !*options->stop && file_is_mounted(s.file))
		poll(NULL, 0, POLL_MS);
	down = take_down(&s, r == 0 ? err : &later);
	munlockall();
	live_close(s.live);
	return r < 0 ? r : down;
}

/* --- asking a served drive ------------------------------------------------------------------ */

struct search {
	int loop;
	char *ret;
	size_t ret_bytes;
	bool found;
};

/* Through the server's own root: it may live in another mount namespace than we. */
static int match_loop(void *ctx, const struct registry_entry *entry)
{
	struct search *search = ctx;

	if (entry->loop == search->loop && registry_is_running(entry)) {
		snprintf(search->ret, search->ret_bytes, "/proc/%d/root%s/" FILE_NAME,
			 (int)entry->pid, entry->directory);
		search->found = true;
	}
	return 0;
}

/* "/dev/loop3" to the file behind it; other paths stay. */
static int file_behind(const char *path, char *ret, size_t ret_bytes, struct err *err)
{
	struct search search = { .ret = ret, .ret_bytes = ret_bytes };
	char link[64], target[512];
	struct stat st;
	ssize_t length;

	if (stat(path, &st) < 0)
		return err_errno(err, -errno, "'%s'", path);
	if (!S_ISBLK(st.st_mode)) {
		snprintf(ret, ret_bytes, "%s", path);
		return 0;
	}
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(st.st_rdev), minor(st.st_rdev));
	length = readlink(link, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	if (sscanf(basename(target), "loop%d", &search.loop) == 1)
		registry_each(match_loop, &search, NULL);
	if (!search.found)
		return err_set(err, -ENODATA, "no served drive is behind '%s'", path);
	return 0;
}

int serve_query(const char *path, const char *attribute, struct text *ret, struct err *err)
{
	char file[4200], name[96];
	DEFER(defer_free) char *value = malloc(65536);
	ssize_t length;
	int r;

	if (!value)
		return err_errno(err, -ENOMEM, "ask '%s'", path);
	r = file_behind(path, file, sizeof(file), err);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "user.tare.%s", attribute);
	length = getxattr(file, name, value, 65536);
	if (length < 0 && (errno == ENODATA || errno == EOPNOTSUPP))
		return err_set(err, -ENODATA, "'%s' is no served drive", path);
	if (length < 0) {
		r = err_errno(err, -errno, "ask '%s'", file);
		if (r == -ENOTCONN)
			err_hint(err, "its server died; 'tare sim clean' removes what it left");
		return r;
	}
	text_add_bytes(ret, value, (size_t)length);
	return 0;
}
