import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { messageOf } from '../../src/lib/std/message-of.ts';
import { checkInside } from '../inside.ts';
import { writeAll } from '../open-node.ts';
import { PLACES } from '../places.ts';
import type { RuntimeCommands } from '../practice-node.ts';
import { connectCommands } from '../runtime/connect-commands.ts';
import type { KubeletChanges } from '../settings.ts';
import { BEHAVIOURS } from './behaviour.ts';
import { collectContainers } from './collect-containers.ts';
import { PRACTICE_MINUTE_MS } from './limits.ts';
import { klogLine, type LogLine } from './log-line.ts';
import { pageAt } from './pages.ts';
import { readObjects } from './read-objects.ts';
import { startServers } from './servers.ts';
import { SyncLoop } from './sync-loop.ts';
import { killUnknownContainers } from './unknown-containers.ts';
import { WORDINGS } from './wording.ts';

/** The default of every kubelet. */
const SECURE_PORT = 10_250;

/**
 * A small stand-in kubelet: it syncs pods with their objects, and has the bugs of a chosen version. It
 * deletes for real, so it runs on a practice node only.
 */
export async function runKubelet(words: readonly string[]): Promise<void> {
  const { name } = checkInside();
  // Only the name: setting the title would overwrite the command line, which holds the flags.
  writeFileSync('/proc/self/comm', 'kubelet');
  const { values } = parseArgs({ args: [...words], strict: false });
  const flag = (key: string) => String(values[key] ?? '');
  const socket = flag('container-runtime-endpoint').replace(/^unix:\/\//, '');
  const runtime = connectCommands(socket, name);
  const say = (line: LogLine) =>
    appendFileSync(flag('log-file'), `${klogLine(line, new Date(), process.pid)}\n`);
  const loop = new SyncLoop({
    kubeletRoot: flag('root-dir'),
    runtime,
    say,
    words: textNow,
    objects: () => readObjects(PLACES.objects),
    onVersion: (version) => writeAll(PLACES.kubeletIteration, version),
  });
  const ports = { readOnly: Number(flag('read-only-port')), secure: SECURE_PORT };
  await startServers(ports, (request, response) => {
    const page = pageAt(request.url ?? '/', textNow().version, loop);
    const failed = (error: unknown) => ({ status: 500, body: `${messageOf(error)}\n` });
    void page.catch(failed).then(({ status, body }) => response.writeHead(status).end(body));
  });
  process.stdout.write('ready\n');
  await Promise.all([loop.run(), collectAgainAndAgain(loop, runtime, say)]);
}

function textNow(): KubeletChanges {
  return JSON.parse(readFileSync(PLACES.kubeletWords, 'utf8')) as KubeletChanges;
}

/** Once a minute, independent of the sync loop, as in any kubelet. */
async function collectAgainAndAgain(
  loop: SyncLoop,
  runtime: RuntimeCommands,
  say: (line: LogLine) => void,
): Promise<never> {
  for (;;) {
    await sleep(PRACTICE_MINUTE_MS);
    const { version, collects } = textNow();
    // Before it has read its pods, all of them would be unknown.
    if (!collects || !loop.hasTurned) continue;
    const [behaviour, wording] = [BEHAVIOURS[version], WORDINGS[version]];
    const collector = { runtime, behaviour, wording, say, guard: checkInside };
    try {
      await killUnknownContainers(loop.podUids, collector);
      await collectContainers(loop.podUids, collector);
    } catch (error) {
      // A missing runtime is tried again next time.
      say(wording.collectionFails(messageOf(error)));
    }
  }
}
