/* SPDX-License-Identifier: MIT */

/*
 * The reference drives. Capacities are scaled down, and with them the pages of a block and
 * the time to erase it, so that the shares, which decide every behaviour, stay: a drive a
 * fiftieth of the size shows the same rates after a fiftieth of the bytes. Sources and how
 * well each meets its original: docs/reference-drive.md.
 */

#include "sim/drive.h"

const char sim_preset_defaults[] =
	"capacity=1g,logical_block=512,physical_block=4096,bus=nvme,queue_depth=1024,link=0,"
	"link_time=0,link_duplex=on,seed=1,state=fresh,content=on,"
	"channels=1,dies=1,page=4k,pages_per_block=256,cell_bits=1,read_time=25us,"
	"read_next_time=0,program_time=200us,erase_time=1500us,channel=0,read_priority=none,"
	"flush_honoured=on,merge=0,mapping=page,mapping_unit=4k,op=7%,log=5%,open_blocks=4,"
	"map_cache=100%,gc=greedy,gc_choices=10,idle_after=0,trim=honoured,"
	"trim_granularity=4k,trim_ranges=256,trim_reads=zeros,trim_reported=zeros,"
	"ambient=25000,throttle=100%";

const struct sim_preset sim_presets[] = {
	{ "page-greedy", "TARE page-greedy", "textbook: one die, page map, greedy cleaning",
	  "op=12%,buffer=256k" },
	{ 0 },
};
