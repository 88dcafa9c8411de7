import { isLoopback } from '../../../lib/std/is-loopback.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly warning?: string;
}

// 127.0.0.1:8090, [::1]:8090, localhost:0
const ADDRESS = /^(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i;

/** Where `serve` listens. Beyond this machine only when that is said a second time. */
export function listenAddress(text: string, mayBeRemote: boolean): ListenAddress {
  const [, given = '', digits = ''] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (given === '' || port > 65_535) {
    throw new UsageError(`--listen takes ADDRESS:PORT, for example 127.0.0.1:8090, not "${text}"`);
  }
  const host = given.replace(/^\[|\]$/g, '');
  if (isLoopback(host)) return { host, port };
  if (!mayBeRemote) {
    throw new UsageError(
      `${host} can be reached from other machines, and what is sent to it can be read on the way; ` +
        'listen on 127.0.0.1, or say --allow-remote as well',
    );
  }
  const warning =
    `warning: others can reach ${text}; there is no TLS, so whoever can read the traffic has the ` +
    'token, and with it the right to repair this node; put a proxy with TLS in front of it';
  return { host, port, warning };
}
