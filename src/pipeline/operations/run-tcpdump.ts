import { type ProgramResult, runProgram, systemProgram } from '../../lib/process/run.ts';
import { jsonValue, numberAt, textAt } from '../../lib/std/json.ts';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { containers } from '../../node/evidence/containers/containers.ts';
import { runtime } from '../../node/evidence/containers/runtime.ts';
import { attempt, type Snapshot } from '../../node/model/evidence.ts';
import { ReadError } from '../../node/model/node-reader.ts';
import { failedWith, type StepInput } from '../steps/operation-result.ts';
import { podOfStep } from '../steps/step-input.ts';
import {
  CAPTURE_BYTES_MAX,
  CAPTURE_FILTER_CHARACTERS_MAX,
  CAPTURE_PACKETS_MAX,
  CAPTURE_SECONDS,
  OUTPUT_BYTES_MAX,
  PACKET_BYTES_MAX,
  STEP_RESERVE_SECONDS,
} from './limits.ts';
import type { PodScope } from './pod-scope.ts';
import { FILE_PLACE, type OwnProcessor } from './processor-host.ts';

const ASKED = 'param.diagnoser.runtime.tcpdump_profiler';
// With a capital letter, as every KubeDiag writes it.
const ENDPOINT = 'diagnoser.runtime.tcpdump_profiler.result.Endpoint';

// any, eth0, br-lan.100, veth1a2b@if3
const INTERFACE = /^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,31}$/;

export const tcpdumpProfiler: OwnProcessor = {
  path: '/processor/tcpdumpProfiler',
  operation: 'tcpdump-profiler',
  does: 'captures the network traffic of the pod for some seconds to a pcap file',
  details:
    'The capture runs in the network namespace of the sandbox. It is refused without a pod and for a ' +
    'pod with the host network, because it would capture the traffic of others. `interface` is "any" ' +
    'by default, `filter` is a pcap filter, and `expiration_seconds` is the duration: 20 by default, at ' +
    'most the remaining time of the step. It ends early after 5,000 packets, of which it saves 1,500 ' +
    `bytes each. The endpoint is the path of ${FILE_PLACE} The step needs \`tcpdump\` where KubeDiag runs.`,
  reads: ['pod.namespace', 'pod.name'],
  mayRead: ['interface', 'filter', 'expiration_seconds'].map((name) => `${ASKED}.${name}`),
  unused: { [`${ASKED}.container`]: 'all containers of a pod share its network' },
  writes: [ENDPOINT],
  repairs: false,
  forPod: 'limited',
  needsPermission: true,
  /**
   * Writes down what goes through the network of the pod of the Diagnosis, and of nothing else: in the
   * network namespace of its sandbox, for some seconds, up to so many packets, as a pcap file.
   */
  async run(input, host) {
    const pod = podOfStep(input);
    if (!pod) {
      const why = 'the network of the whole node is not captured';
      return failedWith(`no pod is named, and ${why}: give the Diagnosis a podReference`);
    }
    const options = optionsOf(input, host.timeoutMs);
    if ('wrong' in options) return failedWith(options.wrong);
    const [nsenter, tcpdump] = [systemProgram('nsenter'), systemProgram('tcpdump')];
    if (!nsenter || !tcpdump) {
      const missing = nsenter ? 'tcpdump' : 'nsenter';
      const fix = missing === 'tcpdump' ? 'tcpdump' : 'util-linux';
      return failedWith(
        `${missing} is missing here: install the package ${fix} where kubediag runs`,
      );
    }
    const snapshot = takeSnapshot(host.node, host.settings);
    const network = await attempt(networkOf(snapshot, pod, host.scope));
    if (!network.known) return failedWith(network.why);
    const chunks: Buffer[] = [];
    let size = 0;
    const ended = await runProgram({
      program: nsenter,
      arguments: [
        `--net=${host.hostRoot.replace(/\/+$/, '')}${network.value}`,
        '--',
        tcpdump,
        ...options.words,
      ],
      deadlineMs: options.seconds * 1_000,
      stop: host.stop,
      endsWithUs: {},
      outputBytesMax: OUTPUT_BYTES_MAX,
      onOutput: (chunk) => {
        size += chunk.length;
        if (size > CAPTURE_BYTES_MAX) return 'enough';
        chunks.push(chunk);
        return 'more';
      },
    });
    const failure = failureTextOf(ended);
    if (failure !== undefined) return failedWith(`tcpdump: ${failure}`);
    const bytes = Buffer.concat(chunks);
    const stored = await host.storeFile({ kind: 'captures', name: 'pod.pcap', bytes });
    if (!stored.ok) return failedWith(`the capture cannot be stored: ${stored.why}`);
    return { succeeded: true, results: { [ENDPOINT]: stored.value } };
  },
};

type CaptureOptions =
  | { readonly words: readonly string[]; readonly seconds: number }
  | { readonly wrong: string };

function optionsOf(input: StepInput, timeoutMs: number): CaptureOptions {
  const face = input[`${ASKED}.interface`] || 'any';
  if (!INTERFACE.test(face)) return { wrong: `${ASKED}.interface is no name of an interface` };
  const filter = input[`${ASKED}.filter`] ?? '';
  if (filter.length > CAPTURE_FILTER_CHARACTERS_MAX || /\p{Cc}/u.test(filter)) {
    const most = CAPTURE_FILTER_CHARACTERS_MAX;
    return { wrong: `${ASKED}.filter has more than ${most} characters, or ones that are not seen` };
  }
  const reported = input[`${ASKED}.expiration_seconds`];
  const asked = reported === undefined ? CAPTURE_SECONDS : Number(reported);
  if (!(asked > 0)) return { wrong: `${ASKED}.expiration_seconds is no number of seconds` };
  const seconds = Math.min(asked, Math.max(1, timeoutMs / 1_000 - STEP_RESERVE_SECONDS));
  const words = [
    ...['-i', face, '-n', '-U', '-w', '-', '-c', String(CAPTURE_PACKETS_MAX)],
    // It takes no packet apart when it only writes them, and the user it would become may not be there.
    ...['-s', String(PACKET_BYTES_MAX), '-Z', 'root'],
    // Behind the two dashes nothing is an option any more.
    ...(filter.trim() === '' ? [] : ['--', filter]),
  ];
  return { words, seconds };
}

/** The path of the pod's network namespace on the node. */
async function networkOf(
  snapshot: Snapshot,
  pod: { readonly namespace: string; readonly name: string },
  scope: PodScope | undefined,
): Promise<string> {
  const { sandboxes } = await snapshot.of(containers);
  const { socket } = await snapshot.of(runtime);
  const name = `pod ${pod.namespace}/${pod.name}`;
  const sandbox = sandboxes.find(
    ({ podNamespace, podName, podUid, isReady }) =>
      podNamespace === pod.namespace &&
      podName === pod.name &&
      isReady &&
      (!scope || podUid === scope.uid),
  );
  if (!sandbox) throw new ReadError('missing', name, 'no sandbox of it is ready on this node');
  const status = { socket, call: 'PodSandboxStatus', id: sandbox.id } as const;
  const { message } = await snapshot.node.ask('runtime', status);
  const info = jsonValue(textAt(message, 'info', 'info') ?? '')?.value;
  const pid = numberAt(info, 'pid') ?? 0;
  if (pid <= 0) throw new ReadError('unsupported', name, 'the runtime does not report its process');
  const path = `/proc/${pid}/ns/net`;
  const [theirs, nodes] = await Promise.all([
    snapshot.node.ask('link', { path }),
    snapshot.node.ask('link', { path: '/proc/1/ns/net' }),
  ]);
  if (theirs === nodes) {
    const why = 'it uses the host network, and its own traffic cannot be separated there';
    throw new ReadError('failed', name, why);
  }
  return path;
}

/** The end of the time is the usual end of a capture. */
function failureTextOf(ended: ProgramResult): string | undefined {
  switch (ended.ended) {
    case 'not-started':
      return `it was not started: ${ended.why}`;
    case 'deadline':
      if (!ended.abandoned) return undefined;
      return `process ${ended.abandoned.pid} could not be ended and lives on`;
    case 'signal':
      return ended.isCut ? 'it wrote more than it was to' : `it was ended by ${ended.signal}`;
    default:
      return ended.code === 0 ? undefined : ended.stderr.trim().split('\n').at(-1);
  }
}
