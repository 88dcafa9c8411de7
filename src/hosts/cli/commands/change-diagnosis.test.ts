import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { syntheticAgent, syntheticTerminal } from '../../../../test/synthetic-agent.ts';
import { approve } from './change-diagnosis.ts';

/** An agent with one Diagnosis with a plan, and the requested changes. */
async function approved(phase: string) {
  const changes: unknown[] = [];
  const stored = {
    metadata: { name: 'd', resourceVersion: '7' },
    status: {
      phase,
      plan: 'abc',
      plannedActions: [{ kind: 'unmount', description: 'unmount /a', plan: 'abc' }],
    },
  };
  const server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => changes.push(JSON.parse(text)));
    response.setHeader('Content-Type', 'application/json');
    request.on('end', () => response.end(JSON.stringify(stored)));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await expect.poll(() => server.listening).toBe(true);
  const { stateDir } = await syntheticAgent();
  const { port } = server.address() as AddressInfo;
  const there = { stateDir, hostRoot: '/', server: `http://127.0.0.1:${port}` };
  const terminal = syntheticTerminal();
  const code = await approve(['d'], { ...there, namespace: 'default', plan: 'abc' }, terminal);
  return { code, changes, ...terminal.said() };
}

test('a plan is approved of the Diagnosis that was shown, as it was then', async () => {
  const { code, changes, out } = await approved('Running');
  expect(code).toBe(0);
  // While somebody thinks about it, it may end: then this is refused as a conflict.
  expect(changes).toEqual([{ metadata: { resourceVersion: '7' }, spec: { approvedPlan: 'abc' } }]);
  expect(out).toContain('plan abc:\n  unmount /a\n');
  expect(out).toContain('approved (plan abc)');
});

test('nothing is approved of a Diagnosis that has ended', async () => {
  const { code, changes, out, err } = await approved('Failed');
  expect({ code, changes, out }).toEqual({ code: 3, changes: [], out: '' });
  expect(err).toContain('has no plan that waits for approval (Failed)');
});
