import { STORED_FILES_MAX } from '../../lib/state/limits.ts';
import { CORE_FOLDERS, collectCoreFiles } from './core-files.ts';
import type { OwnProcessor } from './own-processor.ts';
import { runContainerdGoroutines } from './run-containerd-goroutines.ts';
import { runGoProfiler } from './run-go-profiler.ts';
import { runTcpdump } from './run-tcpdump.ts';

const under = (prefix: string, ...names: readonly string[]) =>
  names.map((name) => `${prefix}.${name}`);

const FILES_STAY = `no server is started: the file stays until ${STORED_FILES_MAX} newer ones are there`;
const NO_SECRET = 'no Secret is read: put the token on the node, and name it in `credential`';

/** Processors that watch a program at work. Their files stay on the node, for root alone. */
export const profilers: readonly OwnProcessor[] = [
  {
    path: '/processor/goProfiler',
    operation: 'go-profiler',
    does: 'downloads a profile of a Go program (Profile, Heap or Goroutine) to a file',
    details:
      '`type` is Profile, Heap or Goroutine; `source` is a URL such as `http://127.0.0.1:6060`. The ' +
      'endpoint is the path of the file below `collected` of the state directory, readable by root ' +
      'only; the newest files are retained. Loopback addresses are allowed, link-local addresses are ' +
      'not, and redirects are not followed. TLS is verified; `ca_bundle` has the CA certificates in ' +
      'PEM. Tokens are never read from a Secret: `credential` names a file in `credentials` of the ' +
      'state directory, `NAME.json` with `{"token": "…", "ca": "…", "addresses": ["https://…"]}`. The ' +
      'token is sent to those addresses only. A Profile takes 30 s, or the remaining time of the step.',
    reads: under('param.diagnoser.runtime.go_profiler', 'type', 'source'),
    mayRead: under('param.diagnoser.runtime.go_profiler', 'credential', 'ca_bundle'),
    unused: {
      'param.diagnoser.runtime.go_profiler.expiration_seconds': FILES_STAY,
      'param.diagnoser.runtime.go_profiler.tls.secret_reference.namespace': NO_SECRET,
      'param.diagnoser.runtime.go_profiler.tls.secret_reference.name': NO_SECRET,
    },
    writes: ['diagnoser.runtime.go_profiler.result.endpoint'],
    repairs: false,
    run: runGoProfiler,
  },
  {
    path: '/processor/tcpdumpProfiler',
    operation: 'tcpdump-profiler',
    does: 'captures the network traffic of the pod for some seconds to a pcap file',
    details:
      'The capture runs in the network namespace of the sandbox. It is refused without a pod and for a ' +
      'pod with the host network, because it would capture the traffic of others. `interface` is "any" ' +
      'by default, `filter` is a pcap filter, and `expiration_seconds` is the duration: 20 by default, at ' +
      'most the remaining time of the step. It ends early after 5,000 packets, of which it saves 1,500 ' +
      'bytes each. The endpoint is the path of the file below `collected` of the state directory, readable ' +
      'by root only; the newest files are retained. It needs `tcpdump` where KubeDiag runs.',
    reads: ['pod.namespace', 'pod.name'],
    mayRead: under(
      'param.diagnoser.runtime.tcpdump_profiler',
      ...['interface', 'filter', 'expiration_seconds'],
    ),
    unused: {
      'param.diagnoser.runtime.tcpdump_profiler.container':
        'all containers of a pod share its network',
    },
    writes: ['diagnoser.runtime.tcpdump_profiler.result.Endpoint'],
    repairs: false,
    run: runTcpdump,
  },
  {
    path: '/processor/containerdGoroutineCollector',
    operation: 'containerd-goroutine-collector',
    does: 'makes containerd dump its goroutines (SIGUSR1) to a file',
    details:
      'The value is the path of the file below `collected` of the state directory, readable by root ' +
      'only; the newest files are retained. containerd writes the dump to its temporary directory and ' +
      'continues to run, so no approval is needed. The signal is sent only to a process that handles it.',
    reads: [],
    writes: ['collector.runtime.containerd.goroutine'],
    repairs: false,
    run: runContainerdGoroutines,
  },
  {
    path: '/processor/coreFileProfiler',
    operation: 'core-file-profiler',
    does: 'lists the core files, without opening them',
    details:
      '`type` is coredump; gcore is refused, because it stops the process. `filepath` may be a directory ' +
      `at or below ${CORE_FOLDERS.join(', ')}. By default all of these are listed, or that of the ` +
      'container below the first. The endpoint is JSON: path, size and time of each file, newest first.',
    reads: under('param.diagnoser.runtime.core_file_profiler', 'type'),
    mayRead: [
      'param.diagnoser.runtime.core_file_profiler.filepath',
      ...['pod.namespace', 'pod.name', 'container'],
    ],
    unused: {
      'param.diagnoser.runtime.core_file_profiler.expiration_seconds': 'no server is started',
      'param.diagnoser.runtime.core_file_profiler.pid': 'no core file is created from a process',
    },
    writes: ['diagnoser.runtime.core_file_profiler.result.endpoint'],
    repairs: false,
    run: collectCoreFiles,
  },
];
