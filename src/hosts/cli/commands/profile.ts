import { functionsOf } from '../../../lib/go/profile.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { takeSnapshot } from '../../../node/checkup/take-snapshot.ts';
import { kubeletPage, withAdvice } from '../../../node/evidence/kubelet/goroutines.ts';
import { type Attempt, attempt } from '../../../node/model/evidence.ts';
import { PROFILE_BYTES_MAX, PROFILE_SECONDS_MAX } from '../../../node/reader/limits.ts';
import {
  durationMs,
  integer,
  type NodeOptions,
  snapshotOptionsOf,
} from '../command-line/options.ts';
import {
  bytesGiven,
  checkOutputs,
  isStandardOutput,
  profileIn,
  writeGiven,
} from '../input/given-file.ts';
import { openNode, reportAbandoned } from '../input/open-node.ts';
import { flamePage } from '../screens/flame-page.ts';
import { profileScreen } from '../screens/show-profile.ts';
import { adviceFor } from './stacks.ts';

export interface ProfileOptions extends NodeOptions {
  readonly seconds: string;
  readonly flame?: string;
  readonly save?: string;
  readonly file?: string;
}

export async function profile(options: ProfileOptions, terminal: Terminal): Promise<number> {
  const seconds = integer('--seconds', options.seconds, PROFILE_SECONDS_MAX);
  checkOutputs(options.save, options.flame);
  if (options.file !== undefined) return showProfile(undefined, options, terminal);
  const node = openNode(options);
  const asked = await askKubelet(node, options, seconds, terminal);
  const code = await showProfile(asked, options, terminal);
  await reportAbandoned(node, terminal);
  return code;
}

/** Shows the profile that the kubelet returned, or that of a file. */
async function showProfile(
  asked: Attempt<Uint8Array> | undefined,
  { file, save, flame }: ProfileOptions,
  terminal: Terminal,
): Promise<number> {
  if (asked && !asked.known) {
    terminal.err(adviceFor(withAdvice(asked.error), terminal));
    return EXIT.unknown;
  }
  const bytes = asked?.value ?? (await bytesGiven(file ?? '-', PROFILE_BYTES_MAX, terminal.hint));
  // Saved before it is parsed: if parsing fails, nobody has to record it again.
  if (save !== undefined) writeGiven(save, bytes, terminal);
  const name = file ?? 'kubelet';
  const created = profileIn(bytes, name);
  if (flame !== undefined) writeGiven(flame, Buffer.from(flamePage(created, name)), terminal);
  if (isStandardOutput(save) || isStandardOutput(flame)) return EXIT.clear;
  terminal.out(profileScreen(created, functionsOf(created), terminal));
  if (save !== undefined) terminal.hint(`saved to ${save}: go tool pprof ${save}\n`);
  if (flame !== undefined) terminal.hint(`flame graph in ${flame}: open it in a browser\n`);
  return EXIT.clear;
}

async function askKubelet(
  node: ReturnType<typeof openNode>,
  options: ProfileOptions,
  seconds: number,
  terminal: Terminal,
): Promise<Attempt<Uint8Array>> {
  const limitMs = durationMs('--timeout', options.timeout) + seconds * 1_000;
  const limit = `the time limit of ${limitMs / 1000} s was reached`;
  const timer = setTimeout(() => node.endCheck(limit), limitMs);
  const snapshot = takeSnapshot(node, snapshotOptionsOf(options), (title) =>
    terminal.progress(`reading: ${title}`),
  );
  const begun = performance.now();
  const clock = setInterval(() => {
    const spent = Math.min(seconds, Math.round((performance.now() - begun) / 1_000));
    terminal.progress(`profiling the kubelet: ${spent} of ${seconds} s`);
  }, 1_000);
  const asked = await attempt(
    kubeletPage(snapshot, `/debug/pprof/profile?seconds=${seconds}`).then((page) =>
      node.ask('profile', { ...page, seconds }),
    ),
  );
  clearInterval(clock);
  clearTimeout(timer);
  terminal.progress('');
  node.close();
  return asked.known ? { known: true, value: Buffer.from(asked.value, 'base64') } : asked;
}
