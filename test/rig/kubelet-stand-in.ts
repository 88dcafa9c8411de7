import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

/**
 * Looks like a kubelet to whoever looks at the node: its name, its flags, its read-only port. What
 * it answers stands in a file, and is read anew for each request, so that a test can change it.
 */
export interface KubeletSays {
  /** "v1.18.8", as its metrics tell it. */
  readonly version: string;
  /** The pods it knows; without them it asks for credentials. */
  readonly pods?: readonly object[];
}

/** Not a flag, because a kubelet has none like it. */
export const SAYS_FILE = 'KUBELET_STAND_IN_SAYS';

function answerTo(path: string | undefined): { readonly status: number; readonly body: string } {
  const says = JSON.parse(readFileSync(process.env[SAYS_FILE] ?? '', 'utf8')) as KubeletSays;
  const { version, pods } = says;
  if (path === '/metrics') {
    const labels = `git_version="${version}",major="1",platform="linux/amd64"`;
    return { status: 200, body: `kubernetes_build_info{${labels}} 1\n` };
  }
  if (path !== '/pods') return { status: 404, body: 'not found' };
  if (!pods) return { status: 401, body: 'Unauthorized' };
  return { status: 200, body: JSON.stringify({ kind: 'PodList', apiVersion: 'v1', items: pods }) };
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
}

if (process.argv[1] === import.meta.filename) serve();
