import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { healthyObjects } from '../../lab/healthy-pods.ts';
import type { Report } from '../../src/node/checkup/report.ts';
import { findBinaries } from '../../tools/cluster/binaries.ts';
import { CURRENT } from '../../tools/cluster/kubernetes-recipes.ts';
import { containerdPackages } from '../rig/containerd.ts';
import { tracesOf } from '../rig/lab-traces.ts';
import { type Ended, EXECUTABLE, reportOf, runProgram } from '../rig/run-kubediag.ts';
import { machinesKernelSettings } from './kernel-settings.ts';

const NAME = `real-${process.pid}`;
const FAULT = 'orphaned-volume-metadata';

/** From its making to its end: each test begins where the one before ended. */
describe(`a practice node with kubelet ${CURRENT}`, () => {
  let environment: NodeJS.ProcessEnv;
  let up: Ended;
  const lab = (command: string, ...args: readonly string[]): Promise<Ended> =>
    runProgram([EXECUTABLE, 'lab', command, '--name', NAME, ...args], { environment });
  const kubediag = (...args: readonly string[]) => lab('run', '--', 'kubediag', ...args);
  const check = async (): Promise<Report> => reportOf(await kubediag('check', '-o', 'json'));

  beforeAll(async () => {
    const binaries = await findBinaries({ kubelet: CURRENT });
    const packages = await containerdPackages();
    if ('missing' in binaries) throw new Error(binaries.missing);
    if ('missing' in packages) throw new Error(packages.missing);
    environment = packages.environment;
    up = await lab('up', '--kubelet', binaries.kubelet, '--runtime', 'containerd');
  });

  afterAll(async () => {
    await lab('down');
  });

  it('has healthy pods, and nothing is unknown', async () => {
    const output = `a real one, ${CURRENT}`;
    expect(up).toMatchObject({ code: 0, stdout: expect.stringContaining(output) });
    const { node, faults } = await check();
    expect(node.kubelet.version).toBe(CURRENT);
    // `up` waits until all of them run.
    expect(node.pods).toBe(healthyObjects().filter(({ kind }) => kind === 'Pod').length);
    expect(faults.map(({ verdict }) => verdict)).toEqual(faults.map(() => 'clear'));
  });

  it('leaves the settings of the machine alone', async () => {
    expect(await machinesKernelSettings()).toEqual(inject('settingsBefore'));
  });

  it('stumbles over what is broken, until it is recovered', async () => {
    expect(await lab('break', FAULT)).toMatchObject({ code: 0 });
    const broken = (await check()).faults.find(({ name }) => name === FAULT);
    expect(broken).toMatchObject({ verdict: 'found', findings: [{ state: 'active' }] });
    expect(await kubediag('recover', FAULT, '--yes')).toMatchObject({ code: 0 });
    const verdict = async () => (await check()).faults.find(({ name }) => name === FAULT)?.verdict;
    await expect.poll(verdict, { timeout: 30_000, interval: 1_000 }).toBe('clear');
  });

  it('leaves nothing behind', async () => {
    expect(await lab('down')).toMatchObject({ code: 0 });
    expect(tracesOf(NAME)).toEqual([]);
    expect(await machinesKernelSettings()).toEqual(inject('settingsBefore'));
  });
});
