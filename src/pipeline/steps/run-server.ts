import { defined } from '../../lib/std/defined.ts';
import type { Processor } from '../api/processor-of.ts';
import { AGENT_PORT, RETRY_WAITS_MS } from './limits.ts';
import type { OperationResult } from './operation-result.ts';
import type { ServerTrust } from './run-exchange.ts';
import { type HttpStep, runHttp } from './run-http.ts';

type HttpProcessor = Extract<Processor, { way: 'http' }>;

/** Asks the server that an Operation names. Touches nothing of the node. */
export async function runServer({
  processor,
  ...step
}: Omit<HttpStep, 'url' | 'trust' | 'waitsMs'> & {
  readonly processor: HttpProcessor;
}): Promise<OperationResult> {
  const waitsMs = RETRY_WAITS_MS.slice(0, processor.retries);
  return runHttp({ url: urlOf(processor), trust: trustOf(processor), waitsMs, ...step });
}

/** Whether a path is one of ours: no other server is named. */
export function isOwnPath({ address, port }: HttpProcessor): boolean {
  return !address && port === undefined;
}

// http://10.0.0.1:8090/processor/x, https://[fd00::1]:8443/y?z=1
function urlOf({ scheme, address, port = AGENT_PORT, path }: HttpProcessor): string {
  const host = address || '127.0.0.1';
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
}

function trustOf({ caBundle, insecureSkipTLSVerify }: HttpProcessor): ServerTrust {
  const authorities = caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined;
  return defined({ authorities, isBlind: insecureSkipTLSVerify });
}
