import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BODY_BYTES_MAX, HEADERS_MS } from '../../src/hosts/web/limits.ts';
import { PracticeNode } from '../rig/practice-node.ts';
import { ServedNode } from '../rig/served-node.ts';

const OPERATIONS = '/apis/diagnosis.kubediag.org/v1/operations';
const operation = (name: string) =>
  JSON.stringify({
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Operation',
    metadata: { name },
    spec: { processor: { scriptRunner: { script: 'true' } } },
  });

/** What somebody can try who reaches the port of an agent, as the executable has it. */
describe('the HTTP API of an agent', () => {
  let node: PracticeNode;
  let agent: ServedNode;

  beforeAll(async () => {
    node = await PracticeNode.make();
    agent = new ServedNode(node);
    await agent.start();
    await agent.ask('POST', OPERATIONS, { body: operation('mine') });
  });

  afterAll(async () => {
    await agent.end('SIGTERM');
    await node.stop();
  });

  /** After each attempt all is as it was, and the agent answers. */
  async function isUnharmed(): Promise<void> {
    const { code, text: names } = await agent.ask('GET', OPERATIONS);
    expect(code).toBe(200);
    const { items } = JSON.parse(names) as { items: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['mine']);
  }

  it('answers root on its socket, and holders of a token, while others hold connections', async () => {
    const idle = Array.from({ length: 130 }, () => connect(agent.port, '127.0.0.1'));
    for (const socket of idle) socket.on('error', () => {});
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    expect(await agent.kubediag('get', 'operations')).toMatchObject({ code: 0, stderr: '' });
    await isUnharmed();
    for (const socket of idle) socket.destroy();
  });

  it.each([
    ['no token', { Authorization: '' }, 401],
    ['another token', { Authorization: 'Bearer x' }, 401],
    ['a page of another origin', { Origin: 'https://evil.example' }, 403],
    ['a page without an origin', { Origin: 'null' }, 403],
    ['a name that is not ours', { Host: 'evil.example:8090' }, 403],
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
  ])('turns away %s', async (_, headers, code) => {
    const body = operation('theirs');
    const posted = await agent.ask('POST', OPERATIONS, { body, headers });
    expect(posted.code, posted.text).toBe(code);
    expect(JSON.parse(posted.text)).toMatchObject({ kind: 'Status', code });
    await isUnharmed();
  });

  it.each([
    ['too much', `"${'x'.repeat(BODY_BYTES_MAX)}"`, 413],
    ['too deep', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`, 400],
    ['half of it', operation('theirs').slice(0, -2), 400],
    ['nothing', '', 400],
    ['another thing', '{"apiVersion":"v1","kind":"Secret"}', 400],
    ['a name that leads elsewhere', operation('../../etc'), 422],
    ['a prototype', '{"__proto__":{"a":1},"kind":"Operation"}', 400],
  ])('refuses %s', async (_, body, code) => {
    const posted = await agent.ask('POST', OPERATIONS, { body });
    expect(posted.code, posted.text).toBe(code);
    await isUnharmed();
  });

  it('waits for nobody who sends a request byte by byte', async () => {
    const slow = Array.from({ length: 40 }, () => connect(agent.port, '127.0.0.1'));
    await Promise.all(slow.map((socket) => once(socket, 'connect')));
    const dripping = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write('X');
    }, 500);
    for (const socket of slow) socket.on('error', () => {});
    const answers = Promise.all(slow.map(heard));
    await isUnharmed();
    const ended = await Promise.race([answers, sleep(HEADERS_MS + 5_000)]);
    clearInterval(dripping);
    for (const socket of slow) socket.destroy();
    expect(ended).toHaveLength(40);
    for (const answer of ended ?? []) expect(answer).toMatch(/^HTTP\/1[.]1 4\d\d /);
    await isUnharmed();
  });

  it('refuses a second agent on its directory, and names the first', async () => {
    const args = ['serve', '--listen', '127.0.0.1:0', '--node-name', 'my-node'];
    const { code, stderr } = await agent.kubediag(...args);
    expect(code).toBe(3);
    expect(stderr).toMatch(/refused: another `kubediag serve` \(pid \d+, since .* UTC\) uses this/);
    await isUnharmed();
  });

  it('listens beyond this machine only with --allow-remote', async () => {
    const { code, stderr } = await agent.kubediag('serve', '--listen', '0.0.0.0:0');
    expect(code).toBe(64);
    expect(stderr).toContain('--allow-remote');
  });
});

async function heard(socket: Socket): Promise<string> {
  socket.write('GET /apis HTTP/1.1\r\nHost: localhost\r\nX: ');
  return text(socket);
}
