import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runProgram, systemProgram } from '../../src/lib/process/run.ts';
import { messageOf } from '../../src/lib/std/message-of.ts';
import { checkInside } from '../inside.ts';
import { writeAll } from '../open-node.ts';
import { PLACES } from '../places.ts';
import { connectCommands } from '../runtime/connect-commands.ts';
import type { KubeletChanges } from '../settings.ts';
import { collectContainers, killUnknownContainers } from './collect-containers.ts';
import { CERTIFICATE_BYTES_MAX, CERTIFICATE_MS, PRACTICE_MINUTE_MS } from './limits.ts';
import { pageAt } from './pages.ts';
import { readObjects } from './read-objects.ts';
import { SyncLoop } from './sync-loop.ts';
import { klogLine } from './wording.ts';

/** The default of every kubelet. */
const SECURE_PORT = 10_250;

/**
 * A small stand-in kubelet: it syncs pods with their objects, and has the bugs of a chosen version.
 * It deletes real files, so it runs only on a practice node.
 */
export async function runKubelet(words: readonly string[]): Promise<void> {
  const { name } = checkInside();
  // process.title would also overwrite the command line, which has the flags.
  writeFileSync('/proc/self/comm', 'kubelet');
  const { values } = parseArgs({ args: [...words], strict: false });
  const flag = (key: string) => String(values[key] ?? '');
  const socket = flag('container-runtime-endpoint').replace(/^unix:\/\//, '');
  const loop = new SyncLoop({
    kubeletRoot: flag('root-dir'),
    runtime: connectCommands(socket, name),
    say: (line) => appendFileSync(flag('log-file'), `${klogLine(line, new Date(), process.pid)}\n`),
    words: textNow,
    objects: () => readObjects(PLACES.objects),
    onVersion: (version) => writeAll(PLACES.kubeletIteration, version),
  });
  await startServers(Number(flag('read-only-port')), (request, response) => {
    const page = pageAt(request.url ?? '/', textNow().version, loop);
    const failed = (error: unknown) => ({ status: 500, body: `${messageOf(error)}\n` });
    void page.catch(failed).then(({ status, body }) => response.writeHead(status).end(body));
  });
  process.stdout.write('ready\n');
  await Promise.all([loop.run(), collectAgainAndAgain(loop)]);
}

function textNow(): KubeletChanges {
  return JSON.parse(readFileSync(PLACES.kubeletWords, 'utf8')) as KubeletChanges;
}

/** Once a minute, independent of the sync loop, as in any kubelet. */
async function collectAgainAndAgain(loop: SyncLoop): Promise<never> {
  for (;;) {
    await sleep(PRACTICE_MINUTE_MS);
    // Before the first iteration has read the pods, all of them would be unknown.
    if (!textNow().collects || !loop.hasTurned) continue;
    const collector = { ...loop.context(), guard: checkInside };
    try {
      await killUnknownContainers(loop.podUids, collector);
      await collectContainers(loop.podUids, collector);
    } catch (error) {
      // A missing runtime is tried again next time.
      collector.say(collector.wording.collectionFails(messageOf(error)));
    }
  }
}

/**
 * Starts the kubelet's HTTP servers in the network of the node. The secure one needs a certificate,
 * which Node.js cannot create: on a machine without openssl it does not start.
 */
async function startServers(readOnlyPort: number, answer: RequestListener): Promise<void> {
  await listening(createServer(answer), readOnlyPort);
  const certificate = await makeCertificate();
  if (certificate === undefined) return;
  const secure = createSecureServer({ key: certificate, cert: certificate }, answer);
  await listening(secure, SECURE_PORT);
}

function listening(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, '127.0.0.1', resolve);
  return promise;
}

/** A key and a self-signed certificate, as kubelets create them. */
async function makeCertificate(): Promise<string | undefined> {
  const program = systemProgram('openssl');
  if (program === undefined) return undefined;
  const created = await runProgram({
    program,
    arguments: [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-subj', '/CN=practice', '-keyout', '-', '-out', '-'],
    ],
    deadlineMs: CERTIFICATE_MS,
    outputBytesMax: CERTIFICATE_BYTES_MAX,
  });
  return created.ended === 'exit' && created.code === 0 ? created.stdout : undefined;
}
