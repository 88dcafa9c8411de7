import { isLoopback } from '../../../lib/std/is-loopback.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly warning?: string;
}

// 127.0.0.1:8090, [::1]:8090, localhost:0
const ADDRESS = /^(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i;

/** The address of `serve`. One that other machines can reach needs --allow-remote. */
export function listenAddress(text: string, mayBeRemote: boolean): ListenAddress {
  const [, given = '', digits = ''] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (given === '' || port > 65_535) {
    throw new UsageError(`--listen: not ADDRESS:PORT, such as 127.0.0.1:8090: "${text}"`);
  }
  const host = given.replace(/^\[|\]$/g, '');
  if (isLoopback(host)) return { host, port };
  if (!mayBeRemote) {
    throw new UsageError(
      `--listen ${text}: other machines can reach this address, and traffic is not encrypted; ` +
        'use 127.0.0.1, or add --allow-remote',
    );
  }
  const warning =
    `warning: other machines can reach ${text}, without TLS: anybody who can read the traffic gets ` +
    'the token, and with it the right to repair this node; put a TLS proxy in front of it';
  return { host, port, warning };
}
