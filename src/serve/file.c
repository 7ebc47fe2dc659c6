/* SPDX-License-Identifier: MIT */

#define FUSE_USE_VERSION 314

#include <assert.h>
#include <errno.h>
#include <fuse3/fuse_lowlevel.h>
#include <inttypes.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "serve/file.h"
#include "serve/live.h"
#include "serve/timer.h"

#define FILE_INODE 2
#define FOREVER_S 1e9			/* names and sizes never change */
#define THREADS 4
#define REQUEST_BYTES_MAX MIB
#define BACKGROUND_MAX 4096u		/* asynchronous requests in flight; the default is 12 */
#define ATTRIBUTE_PREFIX "user.tare."

struct file {
	struct live *live;
	struct timer *timer;
	bool trims_at_once;
	uint64_t capacity_bytes;
	time_t born_s;
	struct fuse_session *session;
	pthread_t threads[THREADS];
	struct fuse_buf buffers[THREADS];
	uint32_t thread_count;
	bool mounted;
	_Atomic uint64_t rehearse_ns, rehearse_deducted_ns;
};

/* An answer on its way. */
struct reply {
	struct timed timed;
	struct file *file;
	fuse_req_t request;
	struct live_answer answer;
	enum sim_kind kind;
	size_t length_bytes;
	unsigned char bytes[];		/* of a read */
};

/* --- answers ------------------------------------------------------------------------------- */

static void reply_fire(struct timed *timed)
{
	struct reply *reply = (struct reply *)timed;

	if (reply->answer.error)
		fuse_reply_err(reply->request, -reply->answer.error);
	else if (reply->kind == SIM_READ)
		fuse_reply_buf(reply->request, (const char *)reply->bytes, reply->length_bytes);
	else if (reply->kind == SIM_WRITE)
		fuse_reply_write(reply->request, reply->length_bytes);
	else
		fuse_reply_err(reply->request, 0);
	if (reply->answer.number)
		live_answered(reply->file->live, reply->answer.number);
	free(reply);
}

static void reply_at(struct reply *reply, uint64_t due_ns)
{
	reply->timed.due_ns = due_ns;
	reply->timed.fire = reply_fire;
	if (due_ns <= clock_gettime_ns() || timer_add(reply->file->timer, &reply->timed) < 0)
		reply_fire(&reply->timed);
}

/* NULL, and the request answered, without memory. */
static struct reply *reply_new(fuse_req_t request, enum sim_kind kind, size_t length_bytes)
{
	struct reply *reply;

	reply = malloc(sizeof(*reply) + (kind == SIM_READ ? length_bytes : 0));
	if (!reply) {
		fuse_reply_err(request, ENOMEM);
		return NULL;
	}
	reply->file = fuse_req_userdata(request);
	reply->request = request;
	reply->answer = (struct live_answer){ 0 };
	reply->kind = kind;
	reply->length_bytes = length_bytes;
	return reply;
}

static void submit(struct reply *reply, const struct sim_request *request, bool at_once)
{
	live_submit(reply->file->live, request, &reply->answer);
	reply_at(reply, at_once ? 0 : reply->answer.due_ns);
}

/* --- content ------------------------------------------------------------------------------- */

static bool rehearse_read(struct reply *reply)
{
	struct file *file = reply->file;
	const uint64_t take_ns = atomic_load_explicit(&file->rehearse_ns, memory_order_relaxed);

	if (take_ns == REHEARSE_OFF)
		return false;
	memset(reply->bytes, 0, reply->length_bytes);
	reply_at(reply, take_ns == 0 ? 0 : clock_gettime_ns() + take_ns -
					   atomic_load(&file->rehearse_deducted_ns));
	return true;
}

static void file_read(fuse_req_t req, fuse_ino_t inode, size_t length, off_t offset,
		      struct fuse_file_info *info)
{
	const struct file *file = fuse_req_userdata(req);
	struct reply *reply;

	(void)inode;
	(void)info;
	if ((uint64_t)offset >= file->capacity_bytes) {
		fuse_reply_buf(req, NULL, 0);
		return;
	}
	if (length > file->capacity_bytes - (uint64_t)offset)
		length = file->capacity_bytes - (uint64_t)offset;
	reply = reply_new(req, SIM_READ, length);
	if (!reply || rehearse_read(reply))
		return;
	submit(reply, &(struct sim_request){ .kind = SIM_READ, .offset_bytes = (uint64_t)offset,
					     .length_bytes = length, .bytes_ret = reply->bytes },
	       false);
}

static void file_write(fuse_req_t req, fuse_ino_t inode, const char *bytes, size_t length,
		       off_t offset, struct fuse_file_info *info)
{
	const struct file *file = fuse_req_userdata(req);
	struct reply *reply;

	(void)inode;
	(void)info;
	if ((uint64_t)offset >= file->capacity_bytes) {
		fuse_reply_err(req, ENOSPC);
		return;
	}
	if (length > file->capacity_bytes - (uint64_t)offset)
		length = file->capacity_bytes - (uint64_t)offset;
	reply = reply_new(req, SIM_WRITE, length);
	if (reply)
		submit(reply, &(struct sim_request){ .kind = SIM_WRITE,
						     .offset_bytes = (uint64_t)offset,
						     .length_bytes = length, .bytes = bytes },
		       false);
}

static void file_fsync(fuse_req_t req, fuse_ino_t inode, int datasync,
		       struct fuse_file_info *info)
{
	struct reply *reply = reply_new(req, SIM_FLUSH, 0);

	(void)inode;
	(void)datasync;
	(void)info;
	if (reply)
		submit(reply, &(struct sim_request){ .kind = SIM_FLUSH }, false);
}

/* A discard of part of a block can't be told to a drive: such a block stays. */
static void discard(fuse_req_t req, struct file *file, struct sim_range range)
{
	const uint64_t block = live_identity(file->live)->logical_block_bytes;
	const uint64_t first = (range.offset_bytes + block - 1) / block * block;
	const uint64_t end = (range.offset_bytes + range.length_bytes) / block * block;
	struct reply *reply;

	if (first >= end) {
		fuse_reply_err(req, 0);
		return;
	}
	reply = reply_new(req, SIM_TRIM, 0);
	if (reply)
		submit(reply, &(struct sim_request){ .kind = SIM_TRIM, .offset_bytes = first,
						     .length_bytes = end - first },
		       file->trims_at_once);
}

static void zero(fuse_req_t req, struct file *file, struct sim_range range)
{
	const uint64_t block = live_identity(file->live)->logical_block_bytes;
	struct reply *reply;

	if ((range.offset_bytes | range.length_bytes) % block) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	reply = reply_new(req, SIM_WRITE_ZEROES, 0);
	if (reply)
		submit(reply, &(struct sim_request){ .kind = SIM_WRITE_ZEROES,
						     .offset_bytes = range.offset_bytes,
						     .length_bytes = range.length_bytes },
		       file->trims_at_once);
}

static void file_fallocate(fuse_req_t req, fuse_ino_t inode, int mode, off_t offset, off_t length,
			   struct fuse_file_info *info)
{
	struct file *file = fuse_req_userdata(req);
	struct sim_range range = { (uint64_t)offset, (uint64_t)length };

	(void)inode;
	(void)info;
	if (range.offset_bytes >= file->capacity_bytes) {
		fuse_reply_err(req, ENOSPC);
		return;
	}
	if (range.length_bytes > file->capacity_bytes - range.offset_bytes)
		range.length_bytes = file->capacity_bytes - range.offset_bytes;
	if (mode == (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE))
		discard(req, file, range);
	else if ((mode & ~FALLOC_FL_KEEP_SIZE) == FALLOC_FL_ZERO_RANGE)
		zero(req, file, range);
	else	/* A drive has all of its space already. */
		fuse_reply_err(req, (mode & ~FALLOC_FL_KEEP_SIZE) == 0 ? 0 : EOPNOTSUPP);
}

/* --- names and sizes ----------------------------------------------------------------------- */

static struct stat stat_of(const struct file *file, fuse_ino_t inode)
{
	struct stat st = {
		.st_ino = inode,
		.st_uid = getuid(),
		.st_gid = getgid(),
		.st_atim.tv_sec = file->born_s,
		.st_mtim.tv_sec = file->born_s,
		.st_ctim.tv_sec = file->born_s,
	};

	if (inode == FUSE_ROOT_ID) {
		st.st_mode = S_IFDIR | 0500;
		st.st_nlink = 2;
		return st;
	}
	st.st_mode = S_IFREG | 0600;
	st.st_nlink = 1;
	st.st_size = (off_t)file->capacity_bytes;
	st.st_blocks = (blkcnt_t)(file->capacity_bytes / 512);
	st.st_blksize = (blksize_t)live_identity(file->live)->physical_block_bytes;
	return st;
}

static void file_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param entry = {
		.ino = FILE_INODE,
		.attr_timeout = FOREVER_S,
		.entry_timeout = FOREVER_S,
	};

	if (parent != FUSE_ROOT_ID || strcmp(name, FILE_NAME) != 0) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	entry.attr = stat_of(fuse_req_userdata(req), FILE_INODE);
	fuse_reply_entry(req, &entry);
}

static void file_getattr(fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info)
{
	const struct stat st = stat_of(fuse_req_userdata(req), inode);

	(void)info;
	fuse_reply_attr(req, &st, FOREVER_S);
}

/*
 * A drive keeps its size: opening with O_TRUNC is as on a block device, without effect;
 * asking for another size is an error. Times and owners are not kept.
 */
static void file_setattr(fuse_req_t req, fuse_ino_t inode, struct stat *attr, int to_set,
			 struct fuse_file_info *info)
{
	const struct file *file = fuse_req_userdata(req);
	const bool by_open = !info && attr->st_size == 0;

	if (to_set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		fuse_reply_err(req, EPERM);
	else if ((to_set & FUSE_SET_ATTR_SIZE) && !by_open &&
		 (uint64_t)attr->st_size != file->capacity_bytes)
		fuse_reply_err(req, EINVAL);
	else
		file_getattr(req, inode, info);
}

static void file_open_name(fuse_req_t req, fuse_ino_t inode, struct fuse_file_info *info)
{
	if (inode != FILE_INODE) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	info->direct_io = 1;	/* no page cache between: what is asked reaches the drive */
	info->keep_cache = 0;
	fuse_reply_open(req, info);
}

static void file_readdir(fuse_req_t req, fuse_ino_t inode, size_t size, off_t offset,
			 struct fuse_file_info *info)
{
	static const char *const names[] = { ".", "..", FILE_NAME };
	static const fuse_ino_t inodes[] = { FUSE_ROOT_ID, FUSE_ROOT_ID, FILE_INODE };
	DEFER(defer_free) char *buffer = malloc(size);
	size_t used = 0;

	(void)info;
	if (inode != FUSE_ROOT_ID || !buffer) {
		fuse_reply_err(req, buffer ? ENOTDIR : ENOMEM);
		return;
	}
	for (size_t i = (size_t)offset; i < ARRAY_COUNT(names); i++) {
		const struct stat st = stat_of(fuse_req_userdata(req), inodes[i]);
		const size_t length = fuse_add_direntry(req, buffer + used, size - used, names[i],
							&st, (off_t)i + 1);

		if (length > size - used)
			break;
		used += length;
	}
	fuse_reply_buf(req, buffer, used);
}

/* The loop driver takes its discard granularity from f_bsize. */
static void file_statfs(fuse_req_t req, fuse_ino_t inode)
{
	const struct file *file = fuse_req_userdata(req);
	const struct sim_identity *id = live_identity(file->live);
	struct statvfs st = { .f_namemax = 255, .f_files = 1 };

	(void)inode;
	st.f_bsize = id->discard ? id->discard_granularity_bytes : 0;
	if (st.f_bsize < id->logical_block_bytes)
		st.f_bsize = id->logical_block_bytes;
	st.f_frsize = st.f_bsize;
	st.f_blocks = file->capacity_bytes / st.f_frsize;
	fuse_reply_statfs(req, &st);
}

/* --- what the drive knows of itself --------------------------------------------------------- */

static bool attribute_text(struct file *file, const char *name, struct text *ret)
{
	uint64_t first, last;
	int end = 0;

	if (strcmp(name, "stat") == 0)
		live_stat_text(file->live, file->timer, ret);
	else if (sscanf(name, "map:%" SCNu64 "-%" SCNu64 "%n", &first, &last, &end) == 2 &&
		 name[end] == '\0' && first <= last)
		live_map_text(file->live, first, last, ret);
	else if (sscanf(name, "log:%" SCNu64 "%n", &first, &end) == 1 && name[end] == '\0')
		live_log_text(file->live, first, ret);
	else
		return false;
	return true;
}

static void file_getxattr(fuse_req_t req, fuse_ino_t inode, const char *name, size_t size)
{
	const size_t prefix = strlen(ATTRIBUTE_PREFIX);
	struct text text = TEXT_INIT;

	if (inode != FILE_INODE || strncmp(name, ATTRIBUTE_PREFIX, prefix) != 0 ||
	    !attribute_text(fuse_req_userdata(req), name + prefix, &text))
		fuse_reply_err(req, ENODATA);
	else if (size == 0)
		fuse_reply_xattr(req, text.length);
	else if (size < text.length)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, text_string(&text), text.length);
	text_done(&text);
}

static void file_listxattr(fuse_req_t req, fuse_ino_t inode, size_t size)
{
	static const char names[] = ATTRIBUTE_PREFIX "stat";
	const size_t length = inode == FILE_INODE ? sizeof(names) : 0;

	if (size == 0)
		fuse_reply_xattr(req, length);
	else if (size < length)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, names, length);
}

/* --- the session --------------------------------------------------------------------------- */

static void file_init(void *ctx, struct fuse_conn_info *conn)
{
	(void)ctx;
	conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
				  FUSE_CAP_SPLICE_MOVE);
	conn->max_write = REQUEST_BYTES_MAX;
	conn->max_background = BACKGROUND_MAX;
	conn->congestion_threshold = BACKGROUND_MAX;
	conn->time_gran = 1;
}

static const struct fuse_lowlevel_ops file_ops = {
	.init = file_init,
	.lookup = file_lookup,
	.getattr = file_getattr,
	.setattr = file_setattr,
	.open = file_open_name,
	.read = file_read,
	.write = file_write,
	.fsync = file_fsync,
	.fallocate = file_fallocate,
	.readdir = file_readdir,
	.statfs = file_statfs,
	.getxattr = file_getxattr,
	.listxattr = file_listxattr,
};

struct thread_start_data {
	struct file *file;
	struct fuse_buf *buffer;
};

static void *file_serve(void *ctx)
{
	struct thread_start_data *data = ctx;
	struct file *file = data->file;
	struct fuse_buf *buffer = data->buffer;
	int r = 1;

	free(data);
	/* Only the wait for a request may be cut short: see file_close. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	while (!fuse_session_exited(file->session)) {
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		r = fuse_session_receive_buf(file->session, buffer);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			break;
		fuse_session_process_buf(file->session, buffer);
	}
	fuse_session_exit(file->session);
	return NULL;
}

static int start_threads(struct file *file, struct err *err)
{
	while (file->thread_count < THREADS) {
		struct thread_start_data *data = malloc(sizeof(*data));
		int r = -ENOMEM;

		if (data) {
			data->file = file;
			data->buffer = &file->buffers[file->thread_count];
			r = thread_start(&file->threads[file->thread_count], file_serve, data);
		}
		if (r < 0) {
			free(data);
			return err_errno(err, r, "start a thread for the file");
		}
		file->thread_count++;
	}
	return 0;
}

/* libfuse says why on its log only; both calls that may fail are made by this thread. */
static _Thread_local char fuse_said[256];

__attribute__((format(printf, 2, 0)))
static void keep_log(enum fuse_log_level level, const char *fmt, va_list args)
{
	(void)level;
	vsnprintf(fuse_said, sizeof(fuse_said), fmt, args);
	fuse_said[strcspn(fuse_said, "\n")] = '\0';
}

static int mount_session(struct file *file, const char *directory, struct err *err)
{
	char options[128];
	char *argv[] = { (char[]){ "tare" }, (char[]){ "-o" }, options, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);

	snprintf(options, sizeof(options), "fsname=tare-sim-%d,subtype=tare,default_permissions",
		 (int)getpid());
	fuse_said[0] = '\0';
	fuse_set_log_func(keep_log);
	errno = 0;
	file->session = fuse_session_new(&args, &file_ops, sizeof(file_ops), file);
	fuse_opt_free_args(&args);	/* it may have put a copy there */
	if (!file->session)
		return err_set(err, -EIO, "FUSE refuses to start: %s", fuse_said);
	if (fuse_session_mount(file->session, directory) < 0) {
		err_set(err, errno ? -errno : -EIO, "mount the drive on '%s': %s", directory,
			fuse_said);
		return err_hint(err, "needs /dev/fuse, and without root fusermount3 "
				     "(package fuse3)");
	}
	file->mounted = true;
	return 0;
}

int file_open(struct file **ret, const struct file_options *options, struct err *err)
{
	struct file *file = calloc(1, sizeof(*file));
	int r;

	if (!file)
		return err_errno(err, -ENOMEM, "serve a file");
	file->live = options->live;
	file->born_s = time(NULL);
	file->trims_at_once = options->trims_at_once;
	file->capacity_bytes = live_identity(options->live)->capacity_bytes;
	atomic_store(&file->rehearse_ns, REHEARSE_OFF);
	r = timer_open(&file->timer, err);
	if (r == 0)
		r = mount_session(file, options->directory, err);
	if (r == 0)
		r = start_threads(file, err);
	if (r < 0) {
		file_close(file);
		return r;
	}
	*ret = file;
	return 0;
}

bool file_is_real_time(const struct file *file)
{
	return timer_is_real_time(file->timer);
}

bool file_is_mounted(const struct file *file)
{
	return !fuse_session_exited(file->session);
}

void file_rehearse(struct file *file, uint64_t read_ns, uint64_t deducted_ns)
{
	assert(read_ns == REHEARSE_OFF || read_ns == 0 || read_ns >= deducted_ns);
	atomic_store(&file->rehearse_deducted_ns, deducted_ns);
	atomic_store(&file->rehearse_ns, read_ns);
}

void file_close(struct file *file)
{
	if (!file)
		return;
	if (file->timer)
		timer_hurry(file->timer);
	if (file->session)
		fuse_session_exit(file->session);
	/* They wait in read(), with the session's descriptor: gone before that is closed. */
	for (uint32_t i = 0; i < file->thread_count; i++)
		pthread_cancel(file->threads[i]);
	for (uint32_t i = 0; i < file->thread_count; i++) {
		pthread_join(file->threads[i], NULL);
		free(file->buffers[i].mem);
	}
	timer_close(file->timer);	/* answers what is left */
	if (file->mounted)
		fuse_session_unmount(file->session);
	if (file->session)
		fuse_session_destroy(file->session);
	free(file);
}
