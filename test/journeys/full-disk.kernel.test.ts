import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PracticeNode } from '../rig/practice-node.ts';
import { ServedNode } from '../rig/served-node.ts';

const DIAGNOSES = '/apis/diagnosis.kubediag.org/v1/namespaces/default/diagnoses';

/** Some that are never begun, and large: a full disk needs no others. */
const diagnosis = (name: string) => ({
  apiVersion: 'diagnosis.kubediag.org/v1',
  kind: 'Diagnosis',
  metadata: { name },
  spec: {
    operationSet: 'none',
    nodeName: 'my-node',
    suspend: true,
    parameters: { large: 'x'.repeat(100_000) },
  },
});

describe('an agent whose disk is full', () => {
  let node: PracticeNode;
  let agent: ServedNode;

  beforeAll(async () => {
    node = await PracticeNode.make();
    await node.run('mkdir', '-p', node.stateFolder);
    await node.run('mount', '-t', 'tmpfs', '-o', 'size=32m,mode=700', 'small', node.stateFolder);
    agent = new ServedNode(node);
    await agent.start();
  });

  afterAll(async () => {
    await agent.end('SIGTERM');
    await node.stop();
  });

  async function ask(method: string, path: string, body?: object) {
    // Its directory is seen from inside the node alone.
    const token = (await node.run('cat', `${node.stateFolder}/token`)).trim();
    const answer = await fetch(`http://127.0.0.1:${agent.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { code: answer.status, text: await answer.text() };
  }

  it('reports that it is full, and continues once there is space', async () => {
    await node.run('sh', '-c', `cat /dev/zero > ${node.stateFolder}/other || true`);
    let last = { code: 201, text: '' };
    for (let at = 0; last.code === 201; at += 1) {
      last = await ask('POST', DIAGNOSES, diagnosis(`e-${at}`));
    }
    expect(last.code).toBe(503);
    expect(await ask('GET', '/readyz')).toMatchObject({ code: 503 });
    await node.run('rm', `${node.stateFolder}/other`);
    expect(await ask('GET', '/readyz')).toMatchObject({ code: 200 });
    expect(await ask('POST', DIAGNOSES, diagnosis('again'))).toMatchObject({ code: 201 });
  });

  it('says so, lets all be deleted, and goes on by itself', async () => {
    let count = 0;
    let last = { code: 201, text: '' };
    for (; last.code === 201; count += 1) {
      last = await ask('POST', DIAGNOSES, diagnosis(`d-${count}`));
    }
    expect(last).toMatchObject({
      code: 503,
      text: expect.stringContaining(`default/d-${count - 1}`),
    });
    expect(last.text).toContain('delete ended Diagnoses');
    expect(await ask('GET', '/readyz')).toEqual({
      code: 503,
      text: expect.stringContaining('the store accepts no writes: database or disk is full'),
    });
    for (let at = 0; at < count - 1; at += 1) {
      expect(await ask('DELETE', `${DIAGNOSES}/d-${at}`)).toMatchObject({ code: 200 });
    }
    expect(await ask('GET', '/readyz')).toEqual({ code: 200, text: 'ok\n' });
    expect(await ask('POST', DIAGNOSES, diagnosis('after'))).toMatchObject({ code: 201 });
  });
});
