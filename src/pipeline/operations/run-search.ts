import { defined } from '../../lib/std/defined.ts';
import { fieldAt, jsonValue, textAt } from '../../lib/std/json.ts';
import {
  failedWith,
  type OperationResult,
  refusedWith,
  type StepInput,
} from '../steps/operation-result.ts';
import {
  type Asked,
  exchangeLimits,
  runExchange,
  type ServerTrust,
} from '../steps/run-exchange.ts';
import { ADDRESSES_MAX } from './limits.ts';
import type { OwnProcessor, ProcessorHost } from './processor-host.ts';
import { storedCredential } from './stored-credential.ts';

const PARAM = 'param.collector.log.elasticsearch';
const HITS = 'collector.log.elasticsearch.result.hits';

export const elasticsearchCollector: OwnProcessor = {
  path: '/processor/elasticsearchCollector',
  operation: 'elasticsearch-collector',
  does: 'searches messages in Elasticsearch',
  details:
    'Several addresses are tried one after another. TLS is verified; `ca_bundle` has the CA certificates ' +
    'in PEM, and `insecure_skip_tls_verify: "true"` skips the verification. To have no password in a ' +
    'Diagnosis, `credential` names a file in `credentials` of the state directory: ' +
    '`NAME.json` with `{"username": "…", "password": "…", "addresses": ["https://logs.example:9200"]}`. ' +
    'It is sent to those addresses only.',
  reads: [`${PARAM}.address`, `${PARAM}.match`],
  mayRead: [
    ...['index', 'timeFrom', 'timeTo', 'username', 'password'].map((name) => `${PARAM}.${name}`),
    ...['credential', 'ca_bundle', 'insecure_skip_tls_verify'].map((name) => `${PARAM}.${name}`),
  ],
  writes: [HITS],
  repairs: false,
  forPod: 'refused',
  serversIn: addressesIn,
  /** Asks the first server that answers. No connection is reused for the next question. */
  async run(input, host) {
    const missing = elasticsearchCollector.reads.find((key) => !input[key]);
    if (missing) return failedWith(`this step needs ${missing}: give it in spec.parameters`);
    const urls = urlsIn(input);
    if (typeof urls === 'string') return failedWith(urls);
    const user = await userIn(input, host, urls);
    if (typeof user === 'string') return failedWith(user);
    const trust = trustIn(input);
    if (trust.isBlind && input[`${PARAM}.credential`]) {
      const why = 'a credential of the node is shown only to a server that has proved who it is';
      return refusedWith(`${why}; give ${PARAM}.ca_bundle instead`);
    }
    const limits = exchangeLimits(host.timeoutMs, host.stop);
    const lost: string[] = [];
    for (const url of urls) {
      const exchanged = await runExchange(asked(url, input, user, trust), limits);
      if ('refused' in exchanged) return failedWith(`${url.origin}: ${exchanged.refused}`);
      if ('status' in exchanged) return judged(url, exchanged.status, exchanged.body());
      lost.push(`${url.origin}: ${exchanged.lost}`);
    }
    return failedWith(lost.join('; '));
  },
};

/** https://a.example:9200,https://b.example:9200/es */
function addressesIn({ [`${PARAM}.address`]: text = '' }: StepInput): readonly string[] {
  return text.split(',').map((each) => each.trim());
}

function urlsIn(input: StepInput): readonly URL[] | string {
  const addresses = addressesIn(input);
  if (addresses.length > ADDRESSES_MAX) return `${PARAM}.address names more than ${ADDRESSES_MAX}`;
  const wrong = addresses.find((each) => !/^https?:[/][/]/.test(each) || !URL.canParse(each));
  if (wrong === undefined) return addresses.map((each) => new URL(each));
  return `${PARAM}.address: "${wrong}" is no address such as "https://logs.example:9200"`;
}

type User = Readonly<Record<'username' | 'password', string>> | undefined;

async function userIn(
  input: StepInput,
  { stateFolder }: ProcessorHost,
  servers: readonly URL[],
): Promise<User | string> {
  const { [`${PARAM}.credential`]: name } = input;
  const { [`${PARAM}.username`]: username, [`${PARAM}.password`]: password } = input;
  if (!name) return username && password ? { username, password } : undefined;
  return storedCredential(stateFolder, { name, fields: ['username', 'password'], servers });
}

function trustIn(input: StepInput): ServerTrust {
  const isBlind = input[`${PARAM}.insecure_skip_tls_verify`] === 'true' || undefined;
  return defined({ authorities: input[`${PARAM}.ca_bundle`] || undefined, isBlind });
}

function asked(base: URL, input: StepInput, user: User, trust: ServerTrust): Asked {
  const { [`${PARAM}.match`]: message, [`${PARAM}.index`]: index } = input;
  const { [`${PARAM}.timeFrom`]: gte, [`${PARAM}.timeTo`]: lte } = input;
  const range = gte && lte ? [{ range: { '@timestamp': { gte, lte } } }] : [];
  const folder = base.pathname.replace(/[/]+$/, '');
  // "logs-*,other": each name is one part of a path, and leads nowhere else.
  const names = index ? `/${index.split(',').map(encodeURIComponent).join(',')}` : '';
  const url = new URL(base);
  url.pathname = `${folder}${names}/_search`;
  url.search = '?track_total_hits=true';
  const pair = user && Buffer.from(`${user.username}:${user.password}`).toString('base64');
  return {
    url,
    method: 'POST',
    body: JSON.stringify({ query: { bool: { must: [{ match: { message } }, ...range] } } }),
    trust,
    ...(pair ? { headers: { Authorization: `Basic ${pair}` } } : {}),
  };
}

function judged({ origin }: URL, status: number, bytes: Buffer): OperationResult {
  const value = jsonValue(bytes.toString('utf8'))?.value;
  if (status !== 200) {
    const reason = textAt(value, 'error', 'reason') ?? textAt(value, 'error');
    return failedWith(`${origin}: it answered ${status}${reason ? `: ${reason}` : ''}`);
  }
  if (!fieldAt(value, 'hits')) return failedWith(`${origin}: its answer holds no hits`);
  return { succeeded: true, results: { [HITS]: JSON.stringify(value, null, 4) } };
}
