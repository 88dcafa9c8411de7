import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectToAgent } from '../../src/pipeline/channel/connect-to-agent.ts';
import { PROTOCOL } from '../../src/pipeline/channel/messages.ts';
import { largeResultsInMemory } from '../../src/pipeline/diagnosis/large-results.ts';

/** A process to be killed: an executor whose steps write a line and wait. */
const [socketPath = '', log = '', waitMs = '0'] = process.argv.slice(2);
connectToAgent({
  socketPath,
  stop: new AbortController().signal,
  hello: async () => ({
    type: 'hello',
    protocol: PROTOCOL,
    version: '1',
    builtIns: { operations: [], operationSets: [] },
    repairs: [],
  }),
  work: {
    runStep: async ({ purpose, stop }) => {
      appendFileSync(log, `begun ${purpose}\n`);
      await sleep(Number(waitMs), undefined, { signal: stop }).catch(() => {
        appendFileSync(log, `stopped ${purpose}\n`);
      });
      return { succeeded: true, results: { by: String(process.pid) } };
    },
    findPod: async () => ({ state: 'found' }),
    earlierActionsFor: async () => ({ isKnown: true, record: {} }),
    settleJournal: async () => ({ isSettled: true }),
    largeResults: largeResultsInMemory(),
    readFile: async () => undefined,
  },
});
