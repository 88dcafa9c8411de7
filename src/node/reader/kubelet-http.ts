import { existsSync, readFileSync } from 'node:fs';
import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getSecure } from 'node:https';
import { DumpParser } from '../../lib/go/dump-parser.ts';
import type { GoroutineDump } from '../../lib/go/goroutine-dump.ts';
import { type KubeletPage, type Question, ReadError, sourceOf } from '../model/node-reader.ts';
import {
  DUMP_BYTES_MAX,
  DUMP_MS,
  HTTP_BYTES_MAX,
  MUTE_MS,
  PROFILE_BYTES_MAX,
  SERVICE_MS,
} from './limits.ts';
import { pathInRoot } from './path-in-root.ts';
import type { ReaderSettings } from './reader-protocol.ts';

/** The client certificate that a kubeadm control plane has for talking to kubelets. */
const USUAL_CERTIFICATE = '/etc/kubernetes/pki/apiserver-kubelet-client.crt';
const USUAL_KEY = '/etc/kubernetes/pki/apiserver-kubelet-client.key';

/** One GET on the kubelet, with the credentials a person gave us or the node has. */
export function getFromKubelet(
  question: KubeletPage,
  settings: ReaderSettings,
): Promise<{ value: { status: number }; payload: readonly Buffer[] }> {
  return fromKubelet(question, settings, SERVICE_MS, async (response) => ({
    value: { status: response.statusCode ?? 0 },
    payload: await bodyOf(response, sourceOf(question), HTTP_BYTES_MAX),
  }));
}

/** The kubelet's goroutines, grouped as they come: a dump may have a hundred megabytes. */
export function goroutinesOfKubelet(
  question: KubeletPage,
  settings: ReaderSettings,
): Promise<GoroutineDump> {
  const source = sourceOf(question);
  return fromKubelet(question, settings, DUMP_MS, async (response) => {
    await requireSuccess(response, source);
    const parser = new DumpParser();
    for await (const chunk of piecesOf(response, source, DUMP_BYTES_MAX)) parser.push(chunk);
    const dump = parser.finish();
    if (dump.format === 'none') {
      throw new ReadError('malformed', source, 'what it sent is no goroutine dump');
    }
    return dump;
  });
}

/** A CPU profile of the kubelet as it sends it (gzip, profile.proto), in base64. */
export function profileOfKubelet(
  question: Question<'profile'>,
  settings: ReaderSettings,
): Promise<string> {
  const source = sourceOf(question);
  const limitMs = question.seconds * 1_000 + SERVICE_MS;
  return fromKubelet(question, settings, limitMs, async (response) => {
    await requireSuccess(response, source);
    return Buffer.concat(await bodyOf(response, source, PROFILE_BYTES_MAX)).toString('base64');
  });
}

const OUTPUT_BYTES_MAX = 64 * 1024;
const TEXT_SHOWN_MAX = 300;

async function requireSuccess(response: IncomingMessage, source: string): Promise<void> {
  const { statusCode = 0 } = response;
  if (statusCode === 200) return;
  const body = Buffer.concat(await bodyOf(response, source, OUTPUT_BYTES_MAX)).toString('utf8');
  const text = body.replace(/\s+/g, ' ').trim().slice(0, TEXT_SHOWN_MAX);
  const detail = `HTTP ${statusCode}${text ? `: ${text}` : ''}`;
  const isDenied = statusCode === 401 || statusCode === 403;
  // With its debugging handlers switched off, a kubelet answers 405 or 404.
  const isUnknown = statusCode === 404 || statusCode === 405;
  throw new ReadError(isDenied ? 'denied' : isUnknown ? 'unsupported' : 'failed', source, detail);
}

/**
 * Endpoints that accepted the connection and did not even finish the TLS handshake, with the moment
 * until which they are left alone. A paused kubelet would else cost the full time for each page.
 */
const mute = new Map<string, number>();

/** Another look begins: a kubelet that was paused may have been resumed. */
export function forgetMutePorts(): void {
  mute.clear();
}

/** The same, with the answer read as it comes, all within the time limit. */
async function fromKubelet<T>(
  question: KubeletPage,
  settings: ReaderSettings,
  limitMs: number,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  const source = sourceOf(question);
  const endpoint = `${question.address}:${question.port}`;
  if ((mute.get(endpoint) ?? 0) > performance.now()) {
    throw new ReadError('timeout', source, 'this port did not even greet us a moment ago');
  }
  const options = {
    host: question.address,
    port: question.port,
    path: question.path,
    agent: false,
    signal: AbortSignal.timeout(limitMs),
  };
  const secrets = question.scheme === 'https' ? credentials(question, settings, source) : {};
  return new Promise((resolve, reject) => {
    let hasGreeted = question.scheme === 'http'; // Without TLS there is no greeting to miss.
    const fail = (error: NodeJS.ErrnoException) => {
      if (error.name !== 'AbortError') {
        reject(error);
        return;
      }
      if (!hasGreeted) mute.set(endpoint, performance.now() + MUTE_MS);
      reject(new ReadError('timeout', source));
    };
    const receive = (response: IncomingMessage) => {
      read(response).then(resolve, fail);
    };
    const request =
      question.scheme === 'http'
        ? getPlain(options, receive)
        : // The kubelet's certificate is signed by itself as a rule, so nothing could be compared.
          getSecure({ ...options, ...secrets, rejectUnauthorized: false }, receive);
    request.on('socket', (socket) =>
      socket.once('secureConnect', () => {
        hasGreeted = true;
      }),
    );
    request.on('error', fail);
  });
}

/** In the pieces in which it came: in one piece a long list of pods would be there twice. */
async function bodyOf(
  response: IncomingMessage,
  source: string,
  bytesMax: number,
): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of piecesOf(response, source, bytesMax)) chunks.push(chunk);
  return chunks;
}

async function* piecesOf(
  response: IncomingMessage,
  source: string,
  bytesMax: number,
): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > bytesMax) {
      throw new ReadError('too-large', source, `it sent more than ${bytesMax} bytes`);
    }
    yield chunk;
  }
}

function credentials(
  { port }: KubeletPage,
  settings: ReaderSettings,
  source: string,
): { cert?: Buffer; key?: Buffer; headers?: Record<string, string> } {
  const { kubeletTokenFile, kubeletCertificateFile, kubeletKeyFile } = settings;
  if (kubeletTokenFile) {
    if (!isRootsPort(port)) {
      const detail = "its listener is not root's, so no token is shown to it";
      throw new ReadError('denied', source, detail);
    }
    const token = readFileSync(kubeletTokenFile, 'utf8').trim();
    return { headers: { authorization: `Bearer ${token}` } };
  }
  if (kubeletCertificateFile && kubeletKeyFile) {
    return { cert: readFileSync(kubeletCertificateFile), key: readFileSync(kubeletKeyFile) };
  }
  try {
    return {
      cert: readFileSync(pathInRoot(settings.hostRoot, USUAL_CERTIFICATE, 'follow')),
      key: readFileSync(pathInRoot(settings.hostRoot, USUAL_KEY, 'follow')),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code) return {}; // No control plane: ask as anybody.
    throw error;
  }
}

//   0: 0100007F:280A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 17812 1
const LISTENER = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) \S+ 0A \S+ \S+ \S+ +(\d+) /gm;

/** Any user may listen on this port while the kubelet is down. */
function isRootsPort(port: number): boolean {
  // A kernel without IPv6 has only the first.
  const files = ['/proc/net/tcp', '/proc/net/tcp6'].filter((path) => existsSync(path));
  const tables = files.map((path) => readFileSync(path, 'utf8')).join('');
  const owners = [...tables.matchAll(LISTENER)]
    .filter(([, hex]) => Number.parseInt(hex ?? '', 16) === port)
    .map(([, , owner]) => owner);
  return owners.length > 0 && owners.every((owner) => owner === '0');
}
