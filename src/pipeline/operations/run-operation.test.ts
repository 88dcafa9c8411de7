import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fixtureAt } from '../../../test/fault-fixtures.ts';
import { certificates } from '../../../test/rig/certificates.ts';
import { hostOn } from '../../../test/synthetic-host.ts';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import { RecordedNode } from '../../node/recording/recorded-node.ts';
import { checkResource } from '../api/check-resource.ts';
import { processorOf } from '../api/processor-of.ts';
import { stepInput } from '../steps/step-input.ts';
import { runOperation } from './run-operation.ts';

/** As a manifest says it, with nothing filled in by anybody before. */
function run(
  written: object,
  input: Readonly<Record<string, string>> = {},
  { host = hostOn(new NodeMaker().build()), isDryRun = false } = {},
) {
  const { resource, problems } = checkResource({
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Operation',
    metadata: { name: 'one' },
    spec: { processor: written },
  });
  if (resource?.kind !== 'Operation') throw new Error(JSON.stringify(problems));
  const processor = processorOf(resource.spec);
  return runOperation({ name: 'one', processor, input, host, isDryRun });
}

const own = (name: string) => ({ httpServer: { path: `/processor/${name}` } });
const saying = (text: string) => ({ succeeded: false, message: expect.stringContaining(text) });
const refusing = (text: string) => ({ ...saying(text), reason: 'Refused' });

describe('an Operation as its manifest says it', () => {
  test('without path, scheme and time it has the usual ones, and is an answer', async () => {
    expect(await run({ httpServer: {} })).toEqual(saying('there is no processor / here'));
    expect(await run({ httpServer: { address: '127.0.0.1', port: 1 } }, {}, stopped())).toEqual(
      saying('http://127.0.0.1:1/: stopped'),
    );
  });

  test.each([
    [{ address: '127.0.0.1', port: 8080, path: '/test' }, 'http://127.0.0.1:8080/test'],
    [
      { address: 'fd00::1', port: 443, path: '/a?b=c', scheme: 'https' },
      'https://[fd00::1]:443/a?b=c',
    ],
    [{ address: 'server.example' }, 'http://server.example:8090/'],
    [{ port: 9_999 }, 'http://127.0.0.1:9999/'],
  ])('%j is asked at %s', async (httpServer, url) => {
    expect(await run({ httpServer }, {}, stopped())).toEqual(saying(`${url}: stopped`));
  });

  test('it is asked no oftener than it says when the network fails', async () => {
    const httpServer = { address: '127.0.0.1', port: 1, retries: 0 };
    expect(await run({ httpServer })).toEqual(saying('(1 attempts)'));
  });

  test('its script and its function are run', async () => {
    const script = { script: 'echo "$1"; exit 3', argKeys: ['a'], operationResultKey: 'k' };
    expect(await run({ scriptRunner: script }, { a: 'x' })).toMatchObject({ succeeded: false });
    expect(await run({ scriptRunner: { ...script, ignoreExitCode: true } }, { a: 'x' })).toEqual({
      succeeded: true,
      results: { 'operation.k.output': 'x\n', 'operation.k.error': 'exit status 3' },
    });
    const code = { runtime: 'golang-http', codeSource: { 'handler.go': '' } };
    expect(await run({ function: code })).toEqual(saying('golang-http builds an image'));
  });

  test('its server has to prove who it is, by the authority that it names', async () => {
    const { cert, key } = certificates.loopback;
    const server = createServer({ cert, key }, (_, response) => response.end('{"a":"b"}'));
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const httpServer = { address: '127.0.0.1', port, scheme: 'https' };
    const done = { succeeded: true, results: { a: 'b' } };
    expect(await run({ httpServer: { ...httpServer, caBundle: btoa(cert) } })).toEqual(done);
    expect(await run({ httpServer: { ...httpServer, insecureSkipTLSVerify: true } })).toEqual(done);
  });

  test('what nobody knows is not run in a dry run', async () => {
    const dry = { isDryRun: true };
    for (const written of [
      { scriptRunner: { script: 'true' } },
      { function: { runtime: 'Python3', codeSource: { 'function.py': '' } } },
      { httpServer: { address: '127.0.0.1', port: 1 } },
    ]) {
      expect(await run(written, {}, dry)).toEqual(refusing('dry run: '));
    }
  });

  test('a step of ours is held to the size that others are held to', async () => {
    const node = new NodeMaker().file('/proc/1/mountinfo', 'x'.repeat(3 * 1024 * 1024)).build();
    expect(await run(own('mountInfoCollector'), {}, { host: hostOn(node) })).toEqual(
      saying('too much to keep'),
    );
  });
});

test('a step of ours whose own code never ends is ended all the same', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const never = new Promise<never>(() => {});
  const unended = Promise.resolve('unended');
  const hanging = { now: () => new Date(), ask: () => never };
  const host = hostOn(hanging, { earlierActions: () => never });
  const ended = run(own('staleSubpathMountDiagnoser'), {}, { host });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await Promise.race([ended, unended])).toEqual(saying('it did not end within 5 s'));
  // A repair must not be reported as ended while it can still act.
  const input = { 'diagnoser.kubernetes.stale_subpath_mount.findings': '[{"id":"abcdef"}]' };
  const repair = run(own('staleSubpathMountRecover'), input, { host });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await Promise.race([repair, unended])).toBe('unended');
});

function stopped() {
  return { host: hostOn(new NodeMaker().build(), { stop: AbortSignal.abort() }) };
}

describe('what somebody made up', async () => {
  const { recording, settings } = await fixtureAt('stale-subpath-mount/broken-configmap');
  const asked: string[] = [];
  const host = hostOn(new RecordedNode(recording), {
    settings,
    consent: ({ actions }) => {
      asked.push(...actions.map(({ kind }) => kind));
      return Promise.resolve({ given: 'to-plan' });
    },
  });
  const DESTINATION = 'diagnoser.kubernetes.subpath_remount.original_destination_path';

  test('is not unmounted because somebody names it: no other path, no part of one, no option', async () => {
    const pod = { namespace: 'default', name: 'web-0' };
    const diagnosed = await run(
      own('subpathRemountDiagnoser'),
      {
        'collector.kubernetes.pod.detail': JSON.stringify({ metadata: pod }),
        'collector.system.mountinfo': 'x',
      },
      { host },
    );
    const target = diagnosed.results?.[DESTINATION] ?? '';
    expect(target).toMatch(/volume-subpaths[/]settings[/]app[/]1$/);
    const recover = (path: string) =>
      run(own('subpathRemountRecover'), { [DESTINATION]: path }, { host });
    for (const path of ['/', `${target}0`, target.slice(0, -1), `-l ${target}`, `${target}/..`]) {
      expect(await recover(path)).toEqual(refusing('refused: a new check does not find'));
    }
    expect(asked).toEqual([]);
    expect(await recover(target)).toMatchObject({ succeeded: true });
    expect(asked).toEqual(['unmount']);
  });

  test('of a container with two such mounts both are found and unmounted, for one holds it up alone', async () => {
    const both = await fixtureAt('stale-subpath-mount/active-second-mount');
    const planned: string[] = [];
    const twice = hostOn(new RecordedNode(both.recording), {
      settings: both.settings,
      consent: ({ actions }) => {
        planned.push(...actions.map((action) => ('target' in action ? action.target : '')));
        return Promise.resolve({ given: 'to-plan' });
      },
    });
    const pod = { namespace: 'default', name: 'web-0' };
    const input = {
      'collector.kubernetes.pod.detail': JSON.stringify({ metadata: pod }),
      'collector.system.mountinfo': 'x',
    };
    const { results, record } = await run(own('subpathRemountDiagnoser'), input, { host: twice });
    expect(record?.findings?.map(({ state }) => state)).toEqual(['active', 'active']);
    const target = results?.[DESTINATION] ?? '';
    const recovered = await run(
      own('subpathRemountRecover'),
      { [DESTINATION]: target },
      { host: twice },
    );
    expect(recovered.results).toEqual({
      'recover.kubernetes.subpath_remount.result': `Would umount ${target} on host; nothing was changed`,
    });
    expect(recovered.record?.plannedActions).toHaveLength(2);
    expect(planned).toEqual([target, target.replace(/1$/, '2')]);
  });

  test('does not pass for what a step has found, nor for what the Diagnosis is about', () => {
    const input = stepInput({
      namespace: 'shop',
      name: 'one',
      uid: 'u',
      nodeName: 'n',
      spec: {
        operationSet: 's',
        podReference: { namespace: 'shop', name: 'web-0' },
        parameters: { 'pod.name': 'other', node: 'x', 'diagnosis.uid': 'y', found: 'no', own: 'z' },
      },
      status: { operationResults: { found: 'yes', 'pod.namespace': 'kube-system' } },
    });
    expect(input).toEqual({
      'diagnosis.namespace': 'shop',
      'diagnosis.name': 'one',
      'diagnosis.uid': 'u',
      node: 'n',
      'pod.namespace': 'shop',
      'pod.name': 'web-0',
      found: 'yes',
      own: 'z',
    });
  });

  test('removes no pod and cordons no node: that needs the controller of a cluster', async () => {
    const pod = { metadata: { name: 'x', namespace: 'kube-system', uid: 'u' } };
    const reported = {
      'collector.kubernetes.statefulset.detail.result': '{}',
      'collector.kubernetes.pod.detail': JSON.stringify(pod),
      node: 'worker-7',
    };
    for (const name of ['statefulsetStuck', 'nodeCordon', 'statefulsetDetailCollector']) {
      expect(await run(own(name), reported)).toEqual(saying('needs the controller of a cluster'));
    }
    expect(await run(own('nodeCordon'), reported)).toEqual(saying('kubectl cordon worker-7'));
    expect(await run(own('statefulsetStuck'))).toEqual(saying('needs collector.kubernetes.state'));
  });
});
