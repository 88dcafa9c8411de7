import { join } from 'node:path';
import { jsonValue } from '../../lib/std/json.ts';
import { withoutPrivateParts } from '../../node/redaction/redact-text.ts';
import { failedWith } from '../steps/operation-result.ts';
import { exchangeLimits, runExchange } from '../steps/run-exchange.ts';
import { PROFILE_BYTES_MAX } from './limits.ts';
import { FILE_PLACE, type OwnProcessor, type ProcessorHost } from './processor-host.ts';

/** Not the file it is reached by elsewhere, /var/run: that is a link, and leads out of a host root. */
const SOCKET = '/run/docker.sock';

const INFO = 'collector.kubernetes.docker.info';
const GOROUTINES = 'collector.runtime.dockerd.goroutine';

export const dockerProcessors: readonly OwnProcessor[] = [
  {
    path: '/processor/dockerInfoCollector',
    operation: 'docker-info-collector',
    does: 'collects the system information of Docker, on a node that has it',
    reads: [],
    writes: [INFO],
    repairs: false,
    forPod: 'refused',
    async run(_, host) {
      const answer = await ask('/info', host);
      if ('failure' in answer) return failedWith(answer.failure);
      const value = jsonValue(answer.body().toString('utf8'))?.value;
      if (answer.status !== 200 || typeof value !== 'object' || value === null) {
        return failedWith(
          `Docker answered ${answer.status} to /info, and nothing that can be read`,
        );
      }
      const isProxy = (key: string) => key === 'HttpProxy' || key === 'HttpsProxy';
      const stored = Object.entries(value).map(([key, each]): [string, unknown] => [
        key,
        isProxy(key) && typeof each === 'string' ? withoutPrivateParts(each) : each,
      ]);
      return { succeeded: true, results: { [INFO]: JSON.stringify(Object.fromEntries(stored)) } };
    },
  },
  {
    path: '/processor/dockerdGoroutineCollector',
    operation: 'dockerd-goroutine-collector',
    does: 'collects the goroutines of Docker, on a node that has it',
    details:
      `The value is the path of ${FILE_PLACE} Docker serves its goroutines in debug mode ` +
      '(`"debug": true` in `/etc/docker/daemon.json`); no signal is sent to it.',
    reads: [],
    writes: [GOROUTINES],
    repairs: false,
    forPod: 'refused',
    async run(_, host) {
      const answer = await ask('/debug/pprof/goroutine?debug=2', host);
      if ('failure' in answer) return failedWith(answer.failure);
      const { status, body } = answer;
      const bytes = body();
      // goroutine 1 [running]:
      if (status !== 200 || bytes.subarray(0, 10).toString() !== 'goroutine ') {
        const why = `Docker does not serve its goroutines (it answered ${status})`;
        const fix = 'set "debug": true in /etc/docker/daemon.json and reload it (kill -HUP)';
        return failedWith(
          `${why}: ${fix}; or manually: kill -USR1 of dockerd writes them below /run/docker`,
        );
      }
      const stored = await host.storeFile({ kind: 'goroutines', name: 'dockerd.txt', bytes });
      if (!stored.ok) return failedWith(`the dump cannot be stored: ${stored.why}`);
      return { succeeded: true, results: { [GOROUTINES]: stored.value } };
    },
  },
];

async function ask(path: string, { hostRoot, timeoutMs, stop }: ProcessorHost) {
  const exchanged = await runExchange(
    {
      url: new URL(path, 'http://docker'),
      method: 'GET',
      body: '',
      socketPath: join(hostRoot, SOCKET),
      bytesMax: PROFILE_BYTES_MAX,
    },
    exchangeLimits(timeoutMs, stop),
  );
  if ('refused' in exchanged) return { failure: `Docker: ${exchanged.refused}` };
  if (!('lost' in exchanged)) return exchanged;
  const isAbsent = exchanged.code === 'ENOENT';
  const failure = isAbsent
    ? `there is no Docker on this node: nothing is at ${SOCKET}; containerCollector asks the runtime`
    : `Docker does not answer at ${SOCKET}: ${exchanged.lost}`;
  return { failure };
}
