import { gunzipSync } from 'node:zlib';
import { parseProfile } from '../../lib/go/profile.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { failedWith, needed, type StepInput } from '../steps/operation-result.ts';
import { type Asked, exchangeLimits, runExchange } from '../steps/run-exchange.ts';
import {
  PROFILE_BYTES_MAX,
  PROFILE_SECONDS,
  PROFILE_UNPACKED_BYTES_MAX,
  STEP_RESERVE_SECONDS,
} from './limits.ts';
import { FILE_PLACE, type OwnProcessor, type ProcessorHost } from './processor-host.ts';
import { storedCredential } from './stored-credential.ts';

const ASKED = 'param.diagnoser.runtime.go_profiler';
const ENDPOINT = 'diagnoser.runtime.go_profiler.result.endpoint';

const FILES_STAY = 'no server is started: the file stays on the node';
const NO_SECRET = 'no Secret is read: put the token on the node, and name it in `credential`';

export const goProfiler: OwnProcessor = {
  path: '/processor/goProfiler',
  operation: 'go-profiler',
  does: 'downloads a profile of a Go program (Profile, Heap or Goroutine) to a file',
  details:
    '`type` is Profile, Heap or Goroutine; `source` is a URL such as `http://127.0.0.1:6060`. The ' +
    `endpoint is the path of ${FILE_PLACE} Loopback addresses are allowed, link-local addresses are ` +
    'not, and redirects are not followed. TLS is verified; `ca_bundle` has the CA certificates in ' +
    'PEM. Tokens are never read from a Secret: `credential` names a file in `credentials` of the ' +
    'state directory, `NAME.json` with `{"token": "…", "ca": "…", "addresses": ["https://…"]}`. The ' +
    'token is sent to those addresses only. A Profile takes 30 s, or the remaining time of the step.',
  reads: [`${ASKED}.type`, `${ASKED}.source`],
  mayRead: [`${ASKED}.credential`, `${ASKED}.ca_bundle`],
  unused: {
    [`${ASKED}.expiration_seconds`]: FILES_STAY,
    [`${ASKED}.tls.secret_reference.namespace`]: NO_SECRET,
    [`${ASKED}.tls.secret_reference.name`]: NO_SECRET,
  },
  writes: [ENDPOINT],
  repairs: false,
  forPod: 'refused',
  serversIn: ({ [`${ASKED}.source`]: source = '' }) => [source],
  /**
   * Downloads a profile of a Go program and stores it: `go tool pprof FILE` or `kubediag profile` show it.
   * People profile what listens on loopback, so that is permitted; but nothing is asked there other
   * than these three pages, no redirect is followed, and what is not a profile is not stored. A token is sent
   * only to whom a person on the node has meant it for, and no Secret of the caller's choice is read.
   */
  async run(input, host) {
    const { [`${ASKED}.type`]: wanted, [`${ASKED}.source`]: source } = input;
    if (!wanted) return failedWith(needed(`${ASKED}.type`, `set it to one of ${TYPES.join(', ')}`));
    const type = TYPES.find((each) => each === wanted);
    if (!type) return failedWith(`${ASKED}.type is none of ${TYPES.join(', ')}`);
    if (!source) return failedWith(needed(`${ASKED}.source`, 'as in "http://127.0.0.1:6060"'));
    const base = baseOf(source);
    if ('wrong' in base) return failedWith(`${ASKED}.source ${base.wrong}`);
    const { timeoutMs, stop } = host;
    const url = pageOf(base.url, type, timeoutMs);
    const token = await tokenFor(input, host, url);
    if ('none' in token) return failedWith(token.none);
    const asked = { url, method: 'GET', body: '', bytesMax: PROFILE_BYTES_MAX, ...token } as const;
    const answer = await runExchange(asked, exchangeLimits(timeoutMs, stop));
    if ('refused' in answer) return failedWith(`${url.href}: refused: ${answer.refused}`);
    if ('lost' in answer)
      return failedWith(`${url.href}: ${answer.lost}; see that it listens there`);
    if (answer.status !== 200) return failedWith(`${url.href}: ${statusText(answer.status)}`);
    const bytes = answer.body();
    const flaw = flawOf(bytes);
    if (flaw !== undefined) return failedWith(`${url.href}: what it sent is no profile: ${flaw}`);
    const name = `${type.toLowerCase()}.pprof`;
    const stored = await host.storeFile({ kind: 'go-profiles', name, bytes });
    if (!stored.ok) return failedWith(`the profile cannot be stored: ${stored.why}`);
    return { succeeded: true, results: { [ENDPOINT]: stored.value } };
  },
};

/** What can be had, and what it is called below /debug/pprof. */
const TYPES = ['Profile', 'Heap', 'Goroutine'] as const;

function baseOf(source: string): { readonly url: URL } | { readonly wrong: string } {
  const url = URL.parse(source);
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (!url || !isHttp) return { wrong: 'is no URL: write it as in "http://127.0.0.1:6060"' };
  if (url.username || url.password || url.search || url.hash) {
    return { wrong: 'has more than host, port and path: take user, "?" and "#" out of it' };
  }
  return { url };
}

type Token = Pick<Asked, 'headers' | 'trust'> | { readonly none: string };

async function tokenFor(
  input: StepInput,
  { stateFolder }: ProcessorHost,
  url: URL,
): Promise<Token> {
  const { [`${ASKED}.credential`]: name, [`${ASKED}.ca_bundle`]: authorities } = input;
  if (!name) return authorities ? { trust: { authorities } } : {};
  if (url.protocol !== 'https:') {
    return { none: `refused: the credential ${name} is only shown where TLS is spoken: use https` };
  }
  // Who may vouch for the server is said beside the token, and not by the caller.
  const fields = ['token', 'ca'] as const;
  const stored = await storedCredential(stateFolder, { name, fields, servers: [url] });
  if (typeof stored === 'string') return { none: stored };
  return {
    trust: { authorities: stored.ca },
    headers: { Authorization: `Bearer ${stored.token}` },
  };
}

// http://127.0.0.1:6060/debug/pprof/profile?seconds=30
function pageOf(base: URL, type: (typeof TYPES)[number], timeoutMs: number): URL {
  const page = new URL(base);
  page.pathname = `${base.pathname.replace(/\/+$/, '')}/debug/pprof/${type.toLowerCase()}`;
  if (type === 'Profile') {
    const rest = Math.floor(timeoutMs / 1_000) - STEP_RESERVE_SECONDS;
    page.searchParams.set('seconds', String(Math.max(1, Math.min(PROFILE_SECONDS, rest))));
  }
  return page;
}

function statusText(status: number): string {
  if (status === 401 || status === 403) {
    return `HTTP ${status}: it requires another credential; put one on the node and name it in ${ASKED}.credential`;
  }
  const isElsewhere = status >= 300 && status < 400;
  return `HTTP ${status}${isElsewhere ? ': it sends us elsewhere, and we do not go' : ''}`;
}

/** The parser throws, and so does what unpacks: what was sent is at fault, not we. */
function flawOf(bytes: Buffer): string | undefined {
  try {
    parseProfile(gunzipSync(bytes, { maxOutputLength: PROFILE_UNPACKED_BYTES_MAX }));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
