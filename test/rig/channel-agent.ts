import { writeSync } from 'node:fs';
import { listenForExecutor } from '../../src/pipeline/channel/listen-for-executor.ts';

/** A process to be killed: an agent that has one step run, and prints its result. */
const [socketPath = ''] = process.argv.slice(2);
const executor = await listenForExecutor({ socketPath, nodeName: 'node-1' });
const result = await executor.runStep({
  name: 'wait',
  processor: { way: 'http', path: '/wait', scheme: 'http', timeoutSeconds: 60 },
  diagnosis: {
    ...{
      namespace: 'default',
      name: 'some',
      uid: '0f8fad5b-d9cb-469f-a165-70867728950e',
      nodeName: 'node-1',
    },
    spec: { operationSet: 'some' },
    status: {},
  },
  input: {},
  restMs: Number.POSITIVE_INFINITY,
  purpose: 'some/1',
  stop: new AbortController().signal,
});
writeSync(1, `${JSON.stringify(result)}\n`);
await executor.close();
