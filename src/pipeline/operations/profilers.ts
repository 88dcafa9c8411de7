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
    does: 'fetches a profile of a Go program (Profile, Heap or Goroutine) and keeps it as a file',
    details:
      '`type` is Profile, Heap or Goroutine; `source` is a URL such as `http://127.0.0.1:6060`. The ' +
      'endpoint is the path of the file below `collected` of the state folder, for root alone; the ' +
      'newest are kept. Loopback may be asked, link-local addresses may not; redirects are not ' +
      'followed. TLS is verified: `ca_bundle` is who may vouch for the server, in PEM. A token is ' +
      'never read from a Secret: `credential` names a file that a person has put into `credentials` ' +
      'of the state folder, `NAME.json` with `{"token": "…", "ca": "…", "addresses": ["https://…"]}`, ' +
      'and it is shown to those addresses and to nobody else. A Profile takes 30 s, or what the ' +
      'time limit of the step leaves.',
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
    does: 'keeps what goes through the network of the pod for some seconds, as a pcap file',
    details:
      'It is taken in the network namespace of the sandbox. Without a pod it is refused, and so is a pod ' +
      'that has the network of the node: that of all others is never captured. `interface` is "any" if unsaid, `filter` is in the language of pcap, and ' +
      '`expiration_seconds` (20 if unsaid, at most what the time limit of the step leaves) is how long ' +
      'it lasts; it ends early at 5,000 packets, of each of which 1,500 bytes are kept. The endpoint ' +
      'is the path of the file below `collected` of the state folder, for root alone; the newest are ' +
      'kept. It needs `tcpdump` where KubeDiag runs.',
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
    does: 'has containerd write down its goroutines (SIGUSR1), and keeps that as a file',
    details:
      'The value is the path of the file below `collected` of the state folder, for root alone; the ' +
      'newest are kept. On that signal containerd writes a dump to its folder for temporary files and ' +
      'goes on, so nobody is asked before; no process gets it that does not catch it.',
    reads: [],
    writes: ['collector.runtime.containerd.goroutine'],
    repairs: false,
    run: runContainerdGoroutines,
  },
  {
    path: '/processor/coreFileProfiler',
    operation: 'core-file-profiler',
    does: 'tells which core files there are; it opens none of them',
    details:
      '`type` is coredump; gcore is refused, for it stops the process. `filepath` may be a folder at or ' +
      `below ${CORE_FOLDERS.join(', ')}, and without it these are looked at, or that of the container ` +
      'below the first of them. The endpoint is JSON: path, size and time of each file, the newest first.',
    reads: under('param.diagnoser.runtime.core_file_profiler', 'type'),
    mayRead: [
      'param.diagnoser.runtime.core_file_profiler.filepath',
      ...['pod.namespace', 'pod.name', 'container'],
    ],
    unused: {
      'param.diagnoser.runtime.core_file_profiler.expiration_seconds':
        'nothing is opened that would have to be closed',
      'param.diagnoser.runtime.core_file_profiler.pid': 'no core file is made of a process',
    },
    writes: ['diagnoser.runtime.core_file_profiler.result.endpoint'],
    repairs: false,
    run: collectCoreFiles,
  },
];
