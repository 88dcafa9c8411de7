import { appendFileSync, readFileSync, stat, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/**
 * Looks like a kubelet on the node: its name, its flags, its read-only port. What
 * it answers stands in a file, and is read again for each request, so that a test can change it.
 */
export interface KubeletResponses {
  /** "v1.18.8", as in its metrics. */
  readonly version: string;
  /** The pods it knows; without them it asks for credentials. */
  readonly pods?: readonly object[];
  /** Whether it collects containers that have ended, as a kubelet does once a minute. */
  readonly collects?: boolean;
  /** What it says of its sync loop; without it, it has no such page. */
  readonly loop?: 'ok' | 'failing';
  /** A path that one of its threads asks for, as the sync loop does for volumes of orphans. */
  readonly statPath?: string;
}

/** Not a flag, because a kubelet has none like it. */
export const RESPONSES_FILE = 'KUBELET_STAND_IN_SAYS';

function saysNow(): KubeletResponses {
  return JSON.parse(readFileSync(process.env[RESPONSES_FILE] ?? '', 'utf8')) as KubeletResponses;
}

const UNHEALTHY =
  '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n';

function answerTo(path: string | undefined): { readonly status: number; readonly body: string } {
  const { version, pods, loop } = saysNow();
  if (path === '/healthz' && loop) {
    return loop === 'ok' ? { status: 200, body: 'ok' } : { status: 500, body: UNHEALTHY };
  }
  if (path === '/metrics') {
    const labels = `git_version="${version}",major="1",platform="linux/amd64"`;
    return { status: 200, body: `kubernetes_build_info{${labels}} 1\n` };
  }
  if (path !== '/pods') return { status: 404, body: 'not found' };
  if (!pods) return { status: 401, body: 'Unauthorized' };
  return { status: 200, body: JSON.stringify({ kind: 'PodList', apiVersion: 'v1', items: pods }) };
}

const CHECK_INTERVAL_MS = 50;

/** In a thread of its own, so that the rest goes on; what came of it is written beside its words. */
function searchGivenPath(): void {
  let looking = '';
  setInterval(() => {
    const { statPath = '' } = saysNow();
    if (statPath === looking) return;
    looking = statPath;
    if (statPath === '') return;
    stat(statPath, (error) => {
      writeFileSync(`${process.env[RESPONSES_FILE]}.seen`, error?.code ?? 'there');
    });
  }, CHECK_INTERVAL_MS);
}

function serve(): void {
  // The name alone. To set the title would write over the command line, where the flags are.
  writeFileSync('/proc/self/comm', 'kubelet');
  const { values } = parseArgs({ strict: false });
  const server = createServer((request, response) => {
    const { status, body } = answerTo(request.url);
    response.writeHead(status).end(body);
  });
  server.listen(Number(values['read-only-port']), '127.0.0.1', () => {
    process.stdout.write('ready\n');
  });
  searchGivenPath();
  const socket = String(values['container-runtime-endpoint'] ?? '').replace(/^unix:\/\//, '');
  const log = typeof values['log-file'] === 'string' ? values['log-file'] : undefined;
  if (log !== undefined) void collectWhile(() => saysNow().collects === true, socket, log);
}

const COLLECTION_MS = 250;

/** Loaded only where it is wanted: most stand-ins have no runtime to talk to. */
async function collectWhile(isOn: () => boolean, socket: string, log: string): Promise<void> {
  for (;;) {
    await sleep(COLLECTION_MS);
    if (!isOn()) continue;
    const { collectContainers } = await import('./collect-containers.ts');
    await collectContainers(socket, (line) => appendFileSync(log, `${line}\n`));
  }
}

if (process.argv[1] === import.meta.filename) serve();
