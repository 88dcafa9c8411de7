import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { fieldAt, listAt, textAt } from '../../src/lib/std/json.ts';
import { controllerDeployment } from './controller-deployment.ts';
import { daemonSet, SUPERVISE } from './daemon-set.ts';

/** The first process of both containers, here with another command. */

let started: ChildProcess | undefined;
afterEach(() => {
  started?.kill('SIGKILL');
});

function supervise(script: string) {
  const args = ['-c', SUPERVISE, 'supervise', 'sh', '-c', script];
  const child = spawn('sh', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  started = child;
  return {
    child,
    ended: once(child, 'exit'),
    output: text(child.stdout),
    errors: text(child.stderr),
  };
}

describe('what process 1 runs', () => {
  test('is started again when it ends', async () => {
    const { child, ended, output, errors } = supervise('echo run; exit 3');
    await once(child.stdout, 'data');
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    await ended;
    expect((await output).match(/run\n/g)?.length).toBeGreaterThanOrEqual(2);
    expect(await errors).toContain('ended with exit code 3, and starts again in 1s');
  });

  test('gets SIGTERM, may finish, and decides the exit code', async () => {
    const script =
      'trap "sleep 0.2; echo finished; exit 7" TERM; echo ready; while true; do sleep 0.1; done';
    const { child, ended, output, errors } = supervise(script);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await ended).toEqual([7, null]);
    expect(await output).toBe('ready\nfinished\n');
    expect(await errors).toBe('');
  });
});

test('both containers share one heap between their threads', () => {
  const [, { object } = {}] = daemonSet('v1');
  const containers = listAt(object, 'spec', 'template', 'spec', 'containers') ?? [];
  expect(containers.map((each) => textAt(each, 'name'))).toEqual(['agent', 'executor']);
  for (const container of containers) {
    expect(listAt(container, 'env')).toContainEqual({ name: 'MALLOC_ARENA_MAX', value: '1' });
  }
});

test('pods run on the nodes that can run the executable', () => {
  const [, { object: agents } = {}] = daemonSet('v1');
  const [{ object: controllers } = {}] = controllerDeployment('v1');
  for (const object of [agents, controllers]) {
    expect(fieldAt(object, 'spec', 'template', 'spec', 'nodeSelector')).toEqual({
      ...{ 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
    });
  }
});
