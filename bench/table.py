#!/usr/bin/env python3
"""Medians of the runs in a file of JSON lines, as a Markdown table; CPU is net of the same job with a discarding sink."""
import json
import statistics
import sys

runs = {}
with open(sys.argv[1]) as lines:
    for line in lines:
        run = json.loads(line)
        runs.setdefault(run["workload"], {}).setdefault(run["sink"], []).append(run)


def median(group, key):
    return statistics.median(run[key] for run in group)


print("| workload | envelope | rows | CPU s net | us a row | of which after the last commit | PUTs a commit | runs at the end | MB written | read CPU s | right | live heap at each quarter, MiB | RSS MiB | load |")
print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|---:|---:|")
for workload, sinks in runs.items():
    ours, none = sinks["tidemark"], sinks["none"]
    drain = median(ours, "drain_cpu_s") - median(none, "drain_cpu_s")
    net = median(ours, "cpu_s") - median(none, "cpu_s") + drain
    print(
        f"| {workload} | {ours[0]['envelope']} | {ours[0]['rows']:,} | {net:.1f} | {net * 1e6 / ours[0]['rows']:.1f} | {drain:.1f} | {median(ours, 'puts_per_commit'):.1f} "
        f"| {median(ours, 'runs'):.0f} | {median(ours, 'bytes_written') / 1e6:.0f} | {median(ours, 'read_cpu_s'):.1f} "
        f"| {'yes' if all(run['correct'] for run in ours) else 'NO'} | {ours[-1]['left_mb'].strip('[]')} | {median(ours, 'peak_rss_mb'):.0f} | {median(ours, 'load'):.1f} |"
    )
