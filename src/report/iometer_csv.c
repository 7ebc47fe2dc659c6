/* SPDX-License-Identifier: MIT */
#include "report/iometer_csv.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "stats/histogram.h"

const char *const iometer_captions[IOMETER_COLUMNS] = {
	"'Target Type",
	"Target Name",
	"Access Specification Name",
	"# Managers",
	"# Workers",
	"# Disks",
	"IOps",
	"Read IOps",
	"Write IOps",
	"MiBps (Binary)",
	"Read MiBps (Binary)",
	"Write MiBps (Binary)",
	"MBps (Decimal)",
	"Read MBps (Decimal)",
	"Write MBps (Decimal)",
	"Transactions per Second",
	"Connections per Second",
	"Average Response Time",
	"Average Read Response Time",
	"Average Write Response Time",
	"Average Transaction Time",
	"Average Connection Time",
	"Maximum Response Time",
	"Maximum Read Response Time",
	"Maximum Write Response Time",
	"Maximum Transaction Time",
	"Maximum Connection Time",
	"Errors",
	"Read Errors",
	"Write Errors",
	"Bytes Read",
	"Bytes Written",
	"Read I/Os",
	"Write I/Os",
	"Connections",
	"Transactions per Connection",
	"Total Raw Read Response Time",
	"Total Raw Write Response Time",
	"Total Raw Transaction Time",
	"Total Raw Connection Time",
	"Maximum Raw Read Response Time",
	"Maximum Raw Write Response Time",
	"Maximum Raw Transaction Time",
	"Maximum Raw Connection Time",
	"Total Raw Run Time",
	"Starting Sector",
	"Maximum Size",
	"Queue Depth",
	"% CPU Utilization",
	"% User Time",
	"% Privileged Time",
	"% DPC Time",
	"% Interrupt Time",
	"Processor Speed",
	"Interrupts per Second",
	"CPU Effectiveness",
	"Packets/Second",
	"Packet Errors",
	"Segments Retransmitted/Second",
	"0 to 50 uS",
	"50 to 100 uS",
	"100 to 200 uS",
	"200 to 500 uS",
	"0.5 to 1 mS",
	"1 to 2 mS",
	"2 to 5 mS",
	"5 to 10 mS",
	"10 to 15 mS",
	"15 to 20 mS",
	"20 to 30 mS",
	"30 to 50 mS",
	"50 to 100 mS",
	"100 to 200 mS",
	"200 to 500 mS",
	"0.5 to 1 S",
	"1 to 2 s",
	"2 to 4.7 s",
	"4.7 to 5 s",
	"5 to 10 s",
	" >= 10 s",
};

#define BINS 21
static const uint64_t bin_ends_us[BINS - 1] = {
	50,    100,   200,   500,    1000,   2000,   5000,    10000,   15000,	20000,
	30000, 50000, 100000, 200000, 500000, 1000000, 2000000, 4700000, 5000000, 10000000,
};

/* Which columns a kind of row leaves blank, counted from 1. */
enum row_kind { ROW_ALL, ROW_MANAGER, ROW_WORKER, ROW_DISK, ROW_KINDS };
static const struct {
	const char *name;
	struct {
		int first, last;
	} blank[4];
} rows[ROW_KINDS] = {
	[ROW_ALL] = { "ALL", { { 37, 45 }, { 54, 54 } } },
	[ROW_MANAGER] = { "MANAGER", { { 4, 4 } } },
	[ROW_WORKER] = { "WORKER", { { 4, 5 }, { 49, 53 }, { 55, 59 } } },
	[ROW_DISK] = { "DISK", { { 3, 6 }, { 49, 53 }, { 55, 59 } } },
};

/* Of all measurements of a row. */
struct sum {
	const char *name, *spec;
	uint32_t manager_count, worker_count, target_count;
	uint64_t count[2], bytes[2], errors[2], total_ns[2], max_ns[2];	/* reads, writes */
	double iops[2], bytes_per_s[2], transactions_per_s;
	uint64_t transaction_count, transaction_ns, transaction_ns_max, run_ns;
	uint64_t user_ns, system_ns;
	int64_t start_sector, max_sectors, depth_count, per_connection;	/* -1 = they differ */
	uint64_t bins[BINS];
	bool has_any;
};

struct writer {
	const struct result *result;
	const struct iometer_labels *labels;
	struct text *ret;
};

static void same_or_not(int64_t *have, int64_t value, bool is_first)
{
	if (is_first)
		*have = value;
	else if (*have != value)
		*have = -1;
}

static void add_bins(struct sum *sum, const struct histogram *h)
{
	for (uint32_t i = 0; h && i < HISTOGRAM_BUCKETS; i++) {
		const uint64_t at_ns = histogram_bucket_low_ns(i) + histogram_bucket_width_ns(i) / 2;
		int bin = 0;

		if (!h->buckets[i])
			continue;
		while (bin < BINS - 1 && at_ns >= bin_ends_us[bin] * 1000)
			bin++;
		sum->bins[bin] += h->buckets[i];
	}
}

static void add(struct sum *sum, const struct measurement *m, const struct iometer_cell *cell)
{
	static const enum op_kind kinds[2] = { OP_READ, OP_WRITE };
	const double seconds = (double)m->duration_ns / 1e9;

	for (int i = 0; i < 2; i++) {
		const struct op_result *op = &m->ops[kinds[i]];

		sum->count[i] += op->count;
		sum->bytes[i] += op->bytes;
		sum->errors[i] += op->error_count;
		if (seconds > 0) {
			sum->iops[i] += (double)op->count / seconds;
			sum->bytes_per_s[i] += (double)op->bytes / seconds;
		}
		if (op->latency) {
			sum->total_ns[i] += op->latency->sum_ns;
			if (op->latency->max_ns > sum->max_ns[i])
				sum->max_ns[i] = op->latency->max_ns;
		}
		add_bins(sum, op->latency);
	}
	if (seconds > 0)
		sum->transactions_per_s += (double)m->transaction_count / seconds;
	sum->transaction_count += m->transaction_count;
	sum->transaction_ns += m->transaction_ns;
	if (m->transaction_ns_max > sum->transaction_ns_max)
		sum->transaction_ns_max = m->transaction_ns_max;
	if (m->duration_ns > sum->run_ns)
		sum->run_ns = m->duration_ns;
	sum->user_ns += m->user_ns;
	sum->system_ns += m->system_ns;
	same_or_not(&sum->start_sector, (int64_t)cell->start_sector, !sum->has_any);
	same_or_not(&sum->max_sectors, (int64_t)cell->max_sectors, !sum->has_any);
	same_or_not(&sum->depth_count, cell->depth_count, !sum->has_any);
	same_or_not(&sum->per_connection, cell->transactions_per_connection, !sum->has_any);
	sum->has_any = true;
}

/* --- one row --------------------------------------------------------------------------- */

struct row {
	struct text *ret;
	enum row_kind kind;
	int column;		/* of the next value, from 1 */
};

static bool is_blank(const struct row *row)
{
	for (int i = 0; i < 4 && rows[row->kind].blank[i].first; i++)
		if (row->column >= rows[row->kind].blank[i].first &&
		    row->column <= rows[row->kind].blank[i].last)
			return true;
	return false;
}

/* Before each value; whether it is to be written. */
static bool next(struct row *row)
{
	row->column++;
	if (row->column > 1)
		text_add(row->ret, ",");
	return !is_blank(row);
}

static void real(struct row *row, double value)
{
	if (next(row))
		text_add(row->ret, "%.6f", value);
}

static void number(struct row *row, uint64_t value)
{
	if (next(row))
		text_add(row->ret, "%" PRIu64, value);
}

static void signed_number(struct row *row, int64_t value)
{
	if (next(row))
		text_add(row->ret, "%" PRId64, value);
}

/* A comma or the end of a line would shift the columns. */
static void name(struct row *row, const char *text)
{
	if (!next(row))
		return;
	for (; *text; text++)
		text_add(row->ret, "%c", *text == ',' || *text == '\n' || *text == '\r' ? ' ' : *text);
}

static double mean_ms(uint64_t total_ns, uint64_t count)
{
	return count ? (double)total_ns / (double)count / 1e6 : 0;
}

static void three(struct row *row, const double pair[2], double unit)
{
	real(row, (pair[0] + pair[1]) / unit);
	real(row, pair[0] / unit);
	real(row, pair[1] / unit);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void write_times(struct row *row, const struct sum *s)
{
	real(row, mean_ms(s->total_ns[0] + s->total_ns[1], s->count[0] + s->count[1]));
	real(row, mean_ms(s->total_ns[0], s->count[0]));
	real(row, mean_ms(s->total_ns[1], s->count[1]));
	real(row, mean_ms(s->transaction_ns, s->transaction_count));
	real(row, 0);
	real(row, (double)larger(s->max_ns[0], s->max_ns[1]) / 1e6);
	real(row, (double)s->max_ns[0] / 1e6);
	real(row, (double)s->max_ns[1] / 1e6);
	real(row, (double)s->transaction_ns_max / 1e6);
	real(row, 0);
}

static void write_counts(struct row *row, const struct sum *s)
{
	number(row, s->errors[0] + s->errors[1]);
	number(row, s->errors[0]);
	number(row, s->errors[1]);
	number(row, s->bytes[0]);
	number(row, s->bytes[1]);
	number(row, s->count[0]);
	number(row, s->count[1]);
	number(row, 0);
	signed_number(row, s->per_connection);
	number(row, s->total_ns[0]);
	number(row, s->total_ns[1]);
	number(row, s->transaction_ns);
	number(row, 0);
	number(row, s->max_ns[0]);
	number(row, s->max_ns[1]);
	number(row, s->transaction_ns_max);
	number(row, 0);
	number(row, s->run_ns);
	signed_number(row, s->start_sector);
	signed_number(row, s->max_sectors);
	signed_number(row, s->depth_count);
}

static void write_cpu(struct row *row, const struct sum *s, uint32_t cpu_count)
{
	const double whole_ns = (double)s->run_ns * (cpu_count ? cpu_count : 1);
	const double user = whole_ns > 0 ? 100 * (double)s->user_ns / whole_ns : 0;
	const double kernel = whole_ns > 0 ? 100 * (double)s->system_ns / whole_ns : 0;

	real(row, user + kernel);
	real(row, user);
	real(row, kernel);
	real(row, 0);
	real(row, 0);
	real(row, 1e9);
	real(row, 0);
	real(row, user + kernel > 0 ? (s->iops[0] + s->iops[1]) / (user + kernel) : 0);
	real(row, 0);
	number(row, 0);
	real(row, 0);
}

static void write_row(const struct writer *w, enum row_kind kind, const struct sum *s)
{
	struct row row = { .ret = w->ret, .kind = kind };

	name(&row, rows[kind].name);
	name(&row, s->name);
	name(&row, s->spec ? s->spec : "");
	number(&row, s->manager_count);
	number(&row, s->worker_count);
	number(&row, s->target_count);
	three(&row, s->iops, 1);
	three(&row, s->bytes_per_s, (double)MIB);
	three(&row, s->bytes_per_s, 1e6);
	real(&row, s->transactions_per_s);
	real(&row, 0);
	write_times(&row, s);
	write_counts(&row, s);
	write_cpu(&row, s, w->result->machine.cpu_count);
	for (int i = 0; i < BINS; i++)
		number(&row, s->bins[i]);
	text_add(w->ret, "\n");
}

/* --- one test -------------------------------------------------------------------------- */

/* The cells first to end - 1 that fit: all, of a manager, of one of its workers, or one cell. */
struct part {
	size_t first, end;
	enum row_kind kind;
	size_t of;		/* the cell it is about */
};

static bool is_in(const struct iometer_labels *labels, const struct part *part, size_t i)
{
	const struct iometer_cell *cell = &labels->cells[i], *of = &labels->cells[part->of];

	switch (part->kind) {
	case ROW_MANAGER:
		return cell->manager_index == of->manager_index;
	case ROW_WORKER:
		return cell->manager_index == of->manager_index &&
		       cell->worker_index == of->worker_index;
	case ROW_DISK:
		return i == part->of;
	default:
		return true;
	}
}

static void count_members(const struct writer *w, const struct part *part, struct sum *sum)
{
	const struct iometer_cell *cells = w->labels->cells, *last = NULL;

	for (size_t i = part->first; i < part->end; i++) {
		if (!is_in(w->labels, part, i))
			continue;
		sum->manager_count += !last || last->manager_index != cells[i].manager_index;
		sum->worker_count += !last || last->manager_index != cells[i].manager_index ||
				     last->worker_index != cells[i].worker_index;
		sum->target_count++;
		if (sum->spec && strcmp(sum->spec, cells[i].spec) != 0)
			sum->spec = "";
		else if (!last)
			sum->spec = cells[i].spec;
		last = &cells[i];
	}
}

static void write_part(const struct writer *w, const struct part *part)
{
	const struct iometer_cell *of = &w->labels->cells[part->of];
	struct sum sum = {
		.name = part->kind == ROW_ALL	    ? "All"
			: part->kind == ROW_MANAGER ? of->manager
			: part->kind == ROW_WORKER  ? of->worker
						    : of->target,
	};

	count_members(w, part, &sum);
	for (size_t i = part->first; i < part->end; i++)
		if (is_in(w->labels, part, i))
			add(&sum, &w->result->measurements[i], &w->labels->cells[i]);
	write_row(w, part->kind, &sum);
}

/* As much as the file asks for: 0 all, 1 no targets, 2 no workers, 3 no managers, 4 nothing. */
static void write_rows(const struct writer *w, size_t first, size_t end)
{
	const struct iometer_cell *cells = w->labels->cells;
	const uint32_t record = w->labels->record;

	write_part(w, &(struct part){ first, end, ROW_ALL, first });
	for (size_t i = first; i < end; i++) {
		const bool new_manager = i == first ||
					 cells[i].manager_index != cells[i - 1].manager_index;
		const bool new_worker = new_manager ||
					cells[i].worker_index != cells[i - 1].worker_index;

		if (new_manager && record < 3)
			write_part(w, &(struct part){ first, end, ROW_MANAGER, i });
		if (new_worker && record < 2)
			write_part(w, &(struct part){ first, end, ROW_WORKER, i });
		if (record < 1)
			write_part(w, &(struct part){ first, end, ROW_DISK, i });
	}
}

static void write_captions(struct text *ret)
{
	for (int i = 0; i < IOMETER_COLUMNS; i++)
		text_add(ret, "%s%s", i ? "," : "", iometer_captions[i]);
	text_add(ret, "\n");
}

static void write_specs(const struct writer *w, uint32_t position)
{
	text_add(w->ret, "'Access specifications\n");
	for (size_t i = 0; i < w->labels->spec_count; i++) {
		const struct iometer_spec_label *spec = &w->labels->specs[i];

		if (spec->first_position != position)
			continue;
		text_add(w->ret, "'Access specification name,default assignment\n%s,%u\n", spec->name,
			 spec->assignment);
		text_add(w->ret, "'size,%% of size,%% reads,%% random,delay,burst,align,reply\n");
		for (uint32_t k = 0; k < spec->lines.count; k++) {
			const struct access_line *line = &spec->lines.lines[k];

			text_add(w->ret, "%u,%u,%u,%u,%u,%u,%u,%u,\n", line->bytes, line->weight,
				 line->read_ppm / (PPM / 100), line->random_ppm / (PPM / 100),
				 line->delay_us / 1000, line->burst_count, line->align_bytes,
				 line->reply_bytes);
		}
	}
	text_add(w->ret, "'End access specifications\n");
}

void report_iometer_csv(const struct result *result, const struct iometer_labels *labels,
			const char *now, struct text *ret)
{
	const struct writer w = { result, labels, ret };
	uint32_t position = UINT32_MAX;
	size_t first = 0, end;

	text_add(ret, "'Test Type,'Test Description\n%u,%s\n'Version\n1.1.0 (tare %s)\n",
		 labels->test_type, labels->description, result->version);
	text_add(ret, "'Time Stamp\n%s\n", now);
	for (uint32_t test = 0; test < labels->test_count; test++, first = end) {
		end = first;
		while (end < labels->cell_count && labels->cells[end].test_index == test)
			end++;
		if (end > result->measurement_count)
			break;
		if (labels->tests[test].position != position) {
			position = labels->tests[test].position;
			write_specs(&w, position);
		}
		text_add(ret, "'Results\n");
		write_captions(ret);
		write_rows(&w, first, end);
		text_add(ret, "'Time Stamp\n%s\n", now);
	}
	text_add(ret, first < labels->cell_count || result->interrupted ? "Aborted test\n" :
									  "'End Test\n");
}
