import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBinaries } from '../../tools/cluster/binaries.ts';
import { PracticeNode } from '../rig/practice-node.ts';
import { type Ended, runProgram } from '../rig/run-kubediag.ts';
import { ServedNode } from '../rig/served-node.ts';
import { MANIFEST } from '../rig/subpath-node.ts';

const NAME = 'subpath-remount-diagnosis';

/** A real kubectl that takes an agent on a node for an API server. */
describe('kubectl with the HTTP API of an agent', () => {
  const home = mkdtempSync(join(tmpdir(), 'kubediag-kubectl-'));
  let program = '';
  let node: PracticeNode;
  let agent: ServedNode;

  beforeAll(async () => {
    const binaries = await findBinaries({ mayBuild: false });
    if ('missing' in binaries) throw new Error(binaries.missing);
    program = binaries.kubectl;
    node = await PracticeNode.make();
    agent = new ServedNode(node);
    await agent.start();
  });

  afterAll(async () => {
    await agent.end('SIGTERM');
    await node.stop();
    rmSync(home, { recursive: true, force: true });
  });

  function kubectl(...args: readonly string[]): Promise<Ended> {
    const server = `http://kubediag:${agent.token}@127.0.0.1:${agent.port}`;
    const all = [program, '--server', server, ...args];
    return runProgram(all, { environment: { HOME: home } });
  }

  it('finds the kinds, with their short names', async () => {
    const { stdout, stderr } = await kubectl('api-resources');
    expect(stdout, stderr).toMatch(/^diagnoses +diag +diagnosis[.]kubediag[.]org\/v1 +true +Diag/m);
    const explained = await kubectl('explain', 'diagnosis.spec.recovery');
    expect(explained.stdout, explained.stderr).toContain('Automatic\n');
  });

  it('applies with its own checks on, waits, shows, changes and deletes', async () => {
    const fixture = await kubectl('apply', '-f', MANIFEST);
    expect(fixture).toMatchObject({ code: 0, stderr: '' });
    expect(fixture.stdout.match(/ created\n/g)).toHaveLength(6);
    // There is no kubelet here, so no pod can be listed.
    const failed = '--for=jsonpath={.status.phase}=Failed';
    const waited = await kubectl('wait', `diagnosis/${NAME}`, failed, '--timeout=20s');
    expect(waited.stdout, waited.stderr).toContain('condition met');
    const again = await kubectl('apply', '-f', MANIFEST);
    expect(again.stdout.match(/ unchanged\n/g)).toHaveLength(6);
    const ours = await agent.kubediag('apply', '-f', MANIFEST);
    expect(ours.stdout.match(/ (unchanged|configured)\n/g)).toHaveLength(6);
    const table = await kubectl('get', 'diag,opset');
    expect(table.stdout).toMatch(
      /PHASE +RESULT +NODES +AGE\n.*subpath-remount-op-set +my-node .* Failed +Error +\d+s\n/,
    );
    expect(table.stdout).toMatch(/READY +AGE\n.*subpath-remount-op-set +true +\d+s\n/);
    const labelled = await kubectl('label', 'diag', NAME, 'a=b');
    expect(labelled.stdout, labelled.stderr).toContain('labeled');
    expect((await kubectl('get', 'diag', '-l', 'a=b', '-o', 'name')).stdout).toContain(NAME);
    expect((await kubectl('get', 'diag', '-l', 'a=c', '-o', 'name')).stdout).toBe('');
    const deleted = await kubectl('delete', '-f', MANIFEST);
    expect(deleted).toMatchObject({ code: 0 });
    expect((await kubectl('get', 'diag', '-A')).stderr).toContain('No resources found');
  });

  it('refuses a mistyped field, and changes nothing in a dry run', async () => {
    const file = join(home, 'mistyped.yaml');
    const text = 'apiVersion: diagnosis.kubediag.org/v1\nkind: Diagnosis\nmetadata: {name: web}\n';
    writeFileSync(file, `${text}spec: {operationSet: set, nodeName: a, Recovery: Approval}\n`);
    const refused = await kubectl('apply', '-f', file);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('strict decoding error: spec.Recovery: unknown field');
    const warned = await kubectl('apply', '-f', file, '--validate=warn', '--dry-run=server');
    expect(warned.stdout, warned.stderr).toContain('web created (server dry run)');
    expect(warned.stderr).toContain('Warning: spec.Recovery: unknown field, dropped');
    expect((await kubectl('get', 'diag', 'web')).code).toBe(1);
    expect((await kubectl('apply', '-f', file, '--validate=ignore')).code).toBe(0);
    const deleted = await kubectl('delete', 'diag', 'web', '--dry-run=server');
    expect(deleted.stdout, deleted.stderr).toContain('(server dry run)');
    expect((await kubectl('get', 'diag', 'web')).code).toBe(0);
    expect((await kubectl('delete', 'diag', 'web')).code).toBe(0);
  });

  it('gets errors in the format of an API server', async () => {
    const missing = await kubectl('get', 'diag', 'nobody');
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('(NotFound): diagnoses.diagnosis.kubediag.org "nobody"');
    const patch = '--patch={"spec":{"adjacencyList":[{"to":[1]},{"operation":"a","to":[1]}]}}';
    await kubectl('apply', '-f', MANIFEST);
    const set = 'operationset/subpath-remount-op-set';
    const refused = await kubectl('patch', set, '--type=merge', patch);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('node 1 leads to itself');
  });
});
