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

/* SATA of the era: 3 Gbit/s, half duplex in effect, 32 commands. */
#define SATA2 "bus=sata,queue_depth=32,link=265MB,link_time=10us,link_duplex=off,"
#define SATA3 "bus=sata,queue_depth=32,link=545MB,link_time=8us,link_duplex=off,"

/* 50 and 34 nm MLC of 2008 and 2009, page map, twenty dies. */
#define INTEL_FLASH                                                                      \
	"channels=10,dies=2,page=4k,pages_per_block=16,cell_bits=2,read_time=90us,"      \
	"read_next_time=35us,program_time=900us,program_spread=60%,erase_time=250us,"    \
	"channel=40MB,read_priority=next,mapping_unit=4k,op=6%,gc_interleave=on,"

const struct sim_preset sim_presets[] = {
	{ "m80", "KINGSTON SSDNOW M SERIES", "Kingston SSDNow M 80 GB, 2009: page map, 7 % spare",
	  "capacity=2g," SATA2 INTEL_FLASH
	  "cpu_read=40us,cpu_write=40us,cpu_unit=1us,buffer=256k,merge=16,"
	  "gc_idle=70%,idle_after=1s,trim_granularity=512,trim_reported=drat" },
	{ "x25m-g1", "INTEL SSDSA2MH160G1GC", "Intel X25-M G1 160 GB, 2008: no discard",
	  "capacity=4g," SATA2 INTEL_FLASH
	  "cpu_read=40us,cpu_write=93us,cpu_unit=1us,cpu_copy=20us,buffer=256k,merge=16,"
	  "gc=d-choices,gc_choices=5,trim=none" },
	{ "x25m-g2", "INTEL SSDSA2M160G2GC", "Intel X25-M G2 160 GB, 2009: cleans when idle",
	  "capacity=4g," SATA2 INTEL_FLASH
	  "cpu_read=40us,cpu_write=106us,cpu_unit=1us,cpu_copy=10us,buffer=256k,merge=16,"
	  "gc_idle=90%,idle_after=1s,trim_granularity=512,trim_reported=drat" },
	{ "m225", "CRUCIAL_CT128M225", "Crucial M225 128 GB, 2009: Barefoot, units of 32 KiB",
	  "capacity=4g," SATA2
	  "channels=4,dies=1,page=32k,pages_per_block=64,cell_bits=2,read_time=464us,"
	  "program_time=712us,erase_time=2ms,channel=546MB,read_priority=next,"
	  "mapping_unit=32k,op=11%,"
	  "cpu_read=60us,cpu_write=331us,buffer=1m,merge=8,trim_granularity=32k,"
	  "trim_reads=old,trim_reported=none" },
	{ "c300", "C300-CTFDDAC256MAG", "Crucial C300 256 GB, 2010: stops for misaligned writes",
	  "capacity=4g," SATA3
	  "channels=8,dies=4,page=8k,pages_per_block=16,cell_bits=2,read_time=60us,"
	  "program_time=900us,program_spread=60%,erase_time=250us,channel=133MB,"
	  "read_priority=next,mapping_unit=4k,op=7.34%,cpu_read=15us,cpu_write=30us,"
	  "cpu_unit=3us,rmw_blocking=on,buffer=2m,merge=4,gc_idle=40%,idle_after=1s,"
	  "trim_granularity=512,trim_reported=zeros" },
	{ "jmf602", "JMICRON JMF602B", "JMicron JMF602B with MLC, 2008: block map, stutters",
	  "capacity=2g," SATA2
	  "channels=4,dies=1,page=4k,pages_per_block=256,cell_bits=2,read_time=60us,"
	  "program_time=800us,erase_time=2ms,channel=40MB,mapping=block,mapping_unit=4k,"
	  "open_blocks=4,cpu_read=100us,cpu_write=100us,buffer=16k,merge=0,gc_burst=on,"
	  "trim=none" },
	{ "nvme-tlc", "TARE NVME TLC", "a PCIe 4 drive of 2022: TLC, dynamic SLC cache, hot",
	  "capacity=8g,logical_block=512,queue_depth=1024,link=7GB,link_time=4us,"
	  "channels=8,dies=4,page=64k,pages_per_block=6,cell_bits=3,read_time=50us,"
	  "program_time=560us,program_spread=30%,erase_time=100us,channel=1600MB,"
	  "read_priority=suspend,op=9%,cpu_read=1us,cpu_write=1500ns,cpu_unit=100ns,"
	  "buffer=16m,merge=32,slc=dynamic,slc_size=30%,slc_read_time=25us,"
	  "slc_program_time=120us,gc_idle=50%,idle_after=2s,wear_spread=50,"
	  "throttle_at=75000,throttle=170%,idle_power=1500,program_energy=160000,"
	  "read_energy=12000,heat_resistance=8000,heat_time=120s" },
	{ "nvme-qlc", "TARE NVME QLC", "a PCIe 3 drive of 2021: QLC behind a large SLC cache",
	  "capacity=8g,queue_depth=1024,link=3400MB,link_time=4us,"
	  "channels=4,dies=4,page=64k,pages_per_block=8,cell_bits=4,read_time=110us,"
	  "program_time=2500us,program_spread=40%,erase_time=300us,channel=1200MB,"
	  "read_priority=suspend,mapping_unit=16k,op=9%,cpu_read=1500ns,cpu_write=2us,"
	  "cpu_unit=200ns,buffer=8m,merge=64,slc=dynamic,slc_size=25%,slc_read_time=30us,"
	  "slc_program_time=250us,slc_full_fold=off,gc_idle=40%,idle_after=5s,"
	  "trim_granularity=16k" },
	{ "nvme-dramless", "TARE NVME HMB", "a PCIe 3 drive of 2022 without DRAM: span matters",
	  "capacity=8g,queue_depth=256,link=3400MB,link_time=5us,"
	  "channels=4,dies=4,page=32k,pages_per_block=16,cell_bits=3,read_time=60us,"
	  "program_time=700us,program_spread=30%,erase_time=300us,channel=1200MB,"
	  "read_priority=next,op=9%,cpu_read=2us,cpu_write=2us,cpu_unit=200ns,buffer=4m,"
	  "merge=16,map_cache=6.25%,slc=static,slc_size=3%,slc_read_time=30us,"
	  "slc_program_time=150us,gc_idle=30%,idle_after=1s,trim=delayed,trim_delay=10s,"
	  "trim_reported=drat" },
	{ "sata-tlc", "TARE SATA TLC", "a SATA drive of 2018: TLC, static SLC cache that folds",
	  "capacity=8g," SATA3
	  "channels=4,dies=4,page=32k,pages_per_block=16,cell_bits=3,read_time=70us,"
	  "program_time=1500us,program_spread=30%,erase_time=300us,channel=400MB,"
	  "read_priority=next,op=7%,cpu_read=7us,cpu_write=9us,cpu_unit=300ns,buffer=8m,"
	  "merge=32,slc=static,slc_size=4%,slc_read_time=40us,slc_program_time=300us,"
	  "gc_idle=40%,idle_after=2s,trim_time=50us,trim_range_time=5us" },
	{ "enterprise", "TARE DC TLC", "a data-centre drive of 2023: 28 % spare, power-loss safe",
	  "capacity=8g,logical_block=4096,physical_block=4096,queue_depth=4096,link=6800MB,"
	  "link_time=4us,channels=8,dies=4,page=64k,pages_per_block=6,cell_bits=3,"
	  "read_time=55us,program_time=560us,program_spread=30%,erase_time=100us,"
	  "channel=1600MB,read_priority=suspend,op=28%,cpu_read=800ns,cpu_write=1us,"
	  "cpu_unit=100ns,buffer=16m,merge=32,power_loss_protected=on" },
	{ "cloud", "TARE CLOUD VOLUME", "a network volume of 100 requests/s with burst credits",
	  "capacity=8g,logical_block=512,queue_depth=128,link=250MB,link_time=500us,"
	  "channels=8,dies=4,page=16k,pages_per_block=16,read_time=60us,program_time=400us,"
	  "erase_time=300us,channel=1200MB,op=28%,buffer=16m,merge=64,"
	  "power_loss_protected=on,rate=100,burst=3000,credits=540k,rate_bytes=128m,"
	  "trim=none" },
	{ "page-greedy", "TARE PAGE GREEDY", "textbook: one die, page map, greedy cleaning",
	  "op=12%,buffer=256k" },
	{ "page-fifo", "TARE PAGE FIFO", "textbook: the same, cleaned in order",
	  "op=12%,buffer=256k,gc=fifo" },
	{ "hybrid-log", "TARE HYBRID LOG", "textbook: block map behind a page-mapped log",
	  "buffer=256k,mapping=hybrid,pages_per_block=128,log=7%" },
	{ "liar-trim", "TARE LIAR TRIM", "fault: takes discards, claims zeros, keeps the data",
	  "op=12%,buffer=256k,trim=ignored" },
	{ "bad-trim", "TARE BAD TRIM", "fault: a discard also drops its neighbours",
	  "op=12%,buffer=256k,trim=damages" },
	{ "lost-write", "TARE LOST WRITE", "fault: one write in 10,000 is acknowledged and lost",
	  "op=12%,buffer=256k,lost_write=0.01%" },
	{ "bit-rot", "TARE BIT ROT", "fault: one write in 10,000 is stored damaged",
	  "op=12%,buffer=256k,corrupt=0.01%" },
	{ 0 },
};
