import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { syntheticAgent, syntheticTerminal } from '../../../../test/synthetic-agent.ts';
import { chain, diagnosis, object } from '../../../../test/synthetic-manifests.ts';
import type { StoredObject } from '../../../pipeline/store/store.ts';
import { apply } from '../commands/apply.ts';
import { approve, cancel } from '../commands/change-diagnosis.ts';
import { deleteObjects } from '../commands/delete.ts';
import { describe } from '../commands/describe.ts';
import { type GetOptions, get } from '../commands/get.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubediag-client-'));
afterAll(() => rmSync(folder, { recursive: true }));

const script = (name: string, text: string) =>
  object('Operation', name, {
    processor: { scriptRunner: { script: text, operationResultKey: name } },
  });

function written(...items: readonly object[]): readonly string[] {
  const file = join(folder, 'all.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  return [file];
}

/** The commands of a person who sits on the node of an agent of their own. */
async function person() {
  const agent = await syntheticAgent();
  const terminal = syntheticTerminal();
  const options = { stateDir: agent.stateDir, hostRoot: '/', namespace: 'default' };
  const reported = async (code: Promise<number>) => ({ code: await code, ...terminal.said() });
  const getOptions: GetOptions = { ...options, output: 'table' };
  return {
    agent,
    options,
    apply: (...items: readonly object[]) =>
      reported(apply({ ...options, filename: written(...items) }, terminal)),
    get: (args: readonly string[], more: Partial<GetOptions> = {}) =>
      reported(get(args, { ...getOptions, ...more }, terminal)),
    describe: (...args: readonly string[]) => reported(describe(args, options, terminal)),
    remove: (...args: readonly string[]) => reported(deleteObjects(args, options, terminal)),
    cancel: (...names: readonly string[]) => reported(cancel(names, options, terminal)),
    approve: (name: string, more: object = {}) =>
      reported(approve([name], { ...options, ...more }, terminal)),
  };
}

const NAMES = 'diagnosis.kubediag.org';

test('what is applied is made, walked, shown, described and deleted', async () => {
  const me = await person();
  const fixture = await me.apply(script('a', 'echo hello'), chain('a'), diagnosis('d'));
  expect(fixture).toMatchObject({ code: 0, err: '' });
  expect(fixture.out).toBe(
    `operation.${NAMES}/a created\noperationset.${NAMES}/set created\ndiagnosis.${NAMES}/d created\n`,
  );
  const phase = async () => {
    const { out } = await me.get(['diag', 'd'], { output: 'json' });
    return (JSON.parse(out) as StoredObject).status?.phase;
  };
  await expect.poll(phase).toBe('Succeeded');
  const again = await me.apply(script('a', 'echo hello'), chain('a'), diagnosis('d'));
  expect(again.out.match(/ unchanged\n/g)).toHaveLength(3);

  const { out } = await me.get(['diagnoses']);
  const [heading = '', row = ''] = out.split('\n');
  expect(heading).toMatch(/^NAME +OPERATIONSET +NODENAME .* PHASE +RESULT +NODES +AGE$/);
  expect(row).toMatch(/^d +set +my-node +Succeeded +Completed +\d+s$/);
  expect((await me.get(['Diagnosis'], { allNamespaces: true })).out).toMatch(/^NAMESPACE +NAME/);
  expect((await me.get(['diag/d'], { output: 'name' })).out).toBe(`diagnosis.${NAMES}/d\n`);
  const yaml = parse((await me.get(['opset', 'set'], { output: 'yaml' })).out) as StoredObject;
  expect(yaml.status).toMatchObject({ ready: true });

  const described = (await me.describe('diagnosis', 'd')).out;
  expect(described).toContain('Phase:        Succeeded\n');
  expect(described).toContain('  - DiagnosisComplete: Diagnosis is completed\n');
  expect(described).toContain('  - Succeeded a\n');
  expect(described).toContain('  - operation.a.output: hello');
  expect(described).not.toContain('last-applied');

  expect((await me.cancel('d')).err).toContain('has already ended (Succeeded)');
  expect((await me.remove('diag', 'd')).out).toBe(
    `diagnosis.${NAMES} "d" deleted from default namespace\n`,
  );
  expect((await me.get(['diag'])).err).toBe('No resources found in default namespace.\n');
  const gone = await me.get(['diag', 'd']);
  expect(gone).toMatchObject({ code: 3, out: '' });
  expect(gone.err).toContain('Error from server (NotFound)');
  expect(me.agent.errors).toEqual([]);
});

test('what changes is configured, and what others have set stays', async () => {
  const me = await person();
  await me.apply(script('a', 'sleep 60'), chain('a'), diagnosis('d', { parameters: { b: 'c' } }));
  // By somebody with another client; what has ended takes no changes.
  const { url, newToken } = me.agent;
  const type = 'application/merge-patch+json';
  const patched = await fetch(`${url}/apis/${NAMES}/v1/namespaces/default/diagnoses/d`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${newToken}`, 'content-type': type },
    body: JSON.stringify({ spec: { suspend: true } }),
  });
  expect(patched.status).toBe(200);
  const changed = await me.apply(diagnosis('d', { deadlineSeconds: 9 }));
  expect(changed.out).toBe(`diagnosis.${NAMES}/d configured\n`);
  const { out } = await me.get(['diag', 'd'], { output: 'json' });
  expect((JSON.parse(out) as StoredObject).spec).toEqual({
    operationSet: 'set',
    nodeName: 'my-node',
    deadlineSeconds: 9,
    suspend: true,
  });
  expect((await me.cancel('d')).out).toBe(`diagnosis.${NAMES}/d cancelled\n`);
  const failed = async () => (await me.get(['diag', 'd'])).out.includes('Failed');
  await expect.poll(failed).toBe(true);
});

test('errors are reported for each object, and the rest is applied', async () => {
  const me = await person();
  const circle = object('OperationSet', 'round', {
    adjacencyList: [{ to: [1] }, { operation: 'a', to: [2] }, { operation: 'b', to: [1] }],
  });
  const { code, out, err } = await me.apply(
    circle,
    chain('nobody'),
    diagnosis('far', { nodeName: 'elsewhere' }),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } },
  );
  expect(code).toBe(3);
  expect(out).toBe(`operationset.${NAMES}/set created\ndiagnosis.${NAMES}/far created\n`);
  expect(err).toContain('the graph has a cycle: 1 → 2 → 1');
  expect(err).toContain(`all.json:1: Operation 'nobody' does not exist yet`);
  expect(err).toContain('all.json:1: node elsewhere: not this node (this is my-node)');
  expect(err).toContain('ConfigMap: not a resource of diagnosis.kubediag.org, ignored');
});

test('a plan is approved by its name only, and only when there is one', async () => {
  const me = await person();
  await me.apply(script('a', 'true'), chain('a'), diagnosis('d', { recovery: 'Approval' }));
  const none = await me.approve('d');
  expect(none).toMatchObject({ code: 3, out: '' });
  expect(none.err).toContain('has no plan that waits');
});

test('a missing agent is reported with what to do', async () => {
  const me = await person();
  await me.agent.stop();
  const { code, err } = await me.get(['diag']);
  expect(code).toBe(3);
  expect(err).toMatch(/no agent listens on .*socket\n {2}why .*ENOENT.*\n {2}do .*kubediag serve/);
  const nobody = await me.get(['diag'], { server: 'http://127.0.0.1:1' });
  expect(nobody.err).toMatch(/no agent listens on .*:1\n {2}why .*ECONNREFUSED/);
  chmodSync(me.agent.tokenFile, 0o644);
  expect((await me.get(['diag'])).err).toContain('others than its owner can read');
  chmodSync(me.agent.tokenFile, 0o600);

  const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1');
  await expect.poll(() => other.listening).toBe(true);
  const { port } = other.address() as AddressInfo;
  const elsewhere = await me.get(['diag'], { server: `http://127.0.0.1:${port}` });
  expect(elsewhere.err).toContain('the server is not a kubediag agent');
  other.close();
});

test('a process that took over the port of a dead agent does not get its token', async () => {
  const me = await person();
  const port = Number(new URL(me.agent.url).port);
  const socket = join(me.agent.stateDir, 'socket');
  // A kill leaves it in its place, where nothing listens any more; an end in peace does not.
  renameSync(socket, `${socket}.moved`);
  await me.agent.stop();
  renameSync(`${socket}.moved`, socket);
  const shown: unknown[] = [];
  const thief = createServer(({ headers }, response) => {
    shown.push(headers.authorization);
    response.end('{}');
  }).listen(port, '127.0.0.1');
  await expect.poll(() => thief.listening).toBe(true);
  const { code, err } = await me.get(['diag']);
  expect(code).toBe(3);
  expect(err).toMatch(/no agent listens on .*socket\n {2}why .*ECONNREFUSED/);
  expect(shown).toEqual([]);
  thief.close();
});

test('a server that switches to another protocol is abandoned', async () => {
  const me = await person();
  const other = createServer();
  other.on('upgrade', (_, socket) => socket.destroy());
  other.on('request', (_, { socket }) => {
    socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n');
  });
  other.listen(0, '127.0.0.1');
  await expect.poll(() => other.listening).toBe(true);
  const { port } = other.address() as AddressInfo;
  const { code, err } = await me.get(['diag'], { server: `http://127.0.0.1:${port}` });
  expect(code).toBe(3);
  expect(err).toContain('another protocol');
  other.close();
});

test('a kind that is none, and a name of all namespaces, cannot be asked for', async () => {
  const me = await person();
  await expect(me.get(['pods'])).rejects.toThrow('there are operations (diagop)');
  const all = me.get(['diag', 'd'], { allNamespaces: true });
  await expect(all).rejects.toThrow('cannot be retrieved by name across all namespaces');
});

test('a watch shows every change, until the agent is gone', async () => {
  const me = await person();
  const terminal = syntheticTerminal();
  const options = { ...me.options, output: 'table', watch: true } as const;
  const watching = get(['diag'], options, terminal);
  let seen = '';
  const shown = () => {
    seen += terminal.said().out;
    return seen;
  };
  await me.apply(script('a', 'true'), chain('a'), diagnosis('d'));
  await expect
    .poll(shown)
    .toMatch(/^NAME .*\nd +set +my-node .*Running.*\n.*Succeeded +Completed +\d+s\n$/s);
  await me.agent.stop();
  expect(await watching).toBe(3);
  expect(terminal.said().err).toMatch(/no agent listens|being ended/);
});
