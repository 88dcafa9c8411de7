import { collectCoreFiles } from './core-files.ts';
import type { OwnProcessor } from './own-processor.ts';
import { runContainerdGoroutines } from './run-containerd-goroutines.ts';
import { runGoProfiler } from './run-go-profiler.ts';
import { runTcpdump } from './run-tcpdump.ts';

const under = (prefix: string, ...names: readonly string[]) =>
  names.map((name) => `${prefix}.${name}`);

/** Processors that watch a program at work. Their files stay on the node, for root alone. */
export const profilers: readonly OwnProcessor[] = [
  {
    path: '/processor/goProfiler',
    operation: 'go-profiler',
    does: 'fetches a profile of a Go program (Profile, Heap or Goroutine) and keeps it as a file',
    reads: under('param.diagnoser.runtime.go_profiler', 'type', 'source'),
    writes: ['diagnoser.runtime.go_profiler.result.endpoint'],
    repairs: false,
    run: runGoProfiler,
  },
  {
    path: '/processor/tcpdumpProfiler',
    operation: 'tcpdump-profiler',
    does: 'keeps what goes through the network of the pod for some seconds, as a pcap file',
    reads: ['pod.namespace', 'pod.name'],
    mayRead: under(
      'param.diagnoser.runtime.tcpdump_profiler',
      ...['interface', 'filter', 'expiration_seconds'],
    ),
    writes: ['diagnoser.runtime.tcpdump_profiler.result.Endpoint'],
    repairs: false,
    run: runTcpdump,
  },
  {
    path: '/processor/containerdGoroutineCollector',
    operation: 'containerd-goroutine-collector',
    does: 'has containerd write down its goroutines (SIGUSR1), and keeps that as a file',
    reads: [],
    writes: ['collector.runtime.containerd.goroutine'],
    repairs: false,
    run: runContainerdGoroutines,
  },
  {
    path: '/processor/coreFileProfiler',
    operation: 'core-file-profiler',
    does: 'tells which core files there are; it opens none of them',
    reads: under('param.diagnoser.runtime.core_file_profiler', 'type'),
    mayRead: [
      'param.diagnoser.runtime.core_file_profiler.filepath',
      ...['pod.namespace', 'pod.name', 'container'],
    ],
    writes: ['diagnoser.runtime.core_file_profiler.result.endpoint'],
    repairs: false,
    run: collectCoreFiles,
  },
];
