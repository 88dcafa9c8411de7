import { attempt, type Snapshot } from '../../model/evidence.ts';
import { type HttpAnswer, type KubeletPage, originOf, ReadError } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { type Kubelet, kubelet } from './kubelet.ts';
import { credentialAdvice } from './kubelet-credential.ts';

export async function requireRunning(snapshot: Snapshot): Promise<Kubelet> {
  const here = await snapshot.of(kubelet);
  if (here.presence === 'running') return here;
  throw new ReadError('refused', 'the kubelet', 'it does not run, so it cannot be asked');
}

/** These paths on each open port. The read-only port comes first: it needs no credentials. */
export function pagesOf(
  { address, readOnlyPort, securePort }: Kubelet,
  ...paths: readonly string[]
): readonly KubeletPage[] {
  const ports = [
    { scheme: 'http', address, port: readOnlyPort },
    { scheme: 'https', address, port: securePort },
  ] as const;
  // Port 0 is disabled.
  const open = ports.filter(({ port }) => port > 0);
  return open.flatMap((port) => paths.map((path) => ({ ...port, path })));
}

/** The answer of the first page that can be read. `ifNone` is the error if no port is open. */
export async function firstAnswer<T>(
  pages: readonly KubeletPage[],
  read: (page: KubeletPage) => Promise<T>,
  what: string,
  ifNone?: string,
): Promise<T> {
  const cause: ReadError[] = [];
  for (const page of pages) {
    const answered = await attempt(read(page));
    if (answered.known) return answered.value;
    cause.push(answered.error);
  }
  const detail = cause.map(({ message }) => message).join('; ') || ifNone;
  throw new ReadError('failed', what, detail, { cause });
}

/** If the kubelet requires a credential, the error says how to get one. */
export async function askPage(
  { node }: Snapshot,
  page: KubeletPage,
): Promise<HttpAnswer & { readonly origin: Origin }> {
  const origin = originOf(page);
  const { status, body } = await node.ask('kubelet', page);
  if (status !== 401 && status !== 403) return { status, body, origin };
  throw new ReadError('denied', origin, `HTTP ${status}: ${credentialAdvice()}`);
}
