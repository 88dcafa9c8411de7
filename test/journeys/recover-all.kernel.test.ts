import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  expectUntouched,
  makeNode,
  mountLine,
  OLD,
  podOf,
  refusedBecauseOf,
  FAULT as STALE,
} from '../rig/faulty-node.ts';
import { makeHung, volumeOf } from '../rig/hung-volume.ts';
import { type PracticeNode, WEB } from '../rig/practice-node.ts';
import { atTerminal } from '../rig/run-in-terminal.ts';
import { oneLine, reportOf } from '../rig/run-kubediag.ts';

const LEFTOVER = 'leftover-volume-directory';
const GONE = '0d7e3a52-9c4b-4d0e-8f11-5e6a7b8c9d0e';
const LONG_AGO = new Date('2026-01-01T00:00:00Z');
const FROM_API = { metadata: { annotations: { 'kubernetes.io/config.source': 'api' } } };

/** Makes a directory as a failed teardown leaves it: active of a deleted pod, latent of one that lives. */
function leave(node: PracticeNode, podUid: string): string {
  const plugin = join(node.root, 'pods', podUid, 'volumes/transwarp.io~tosdisk');
  const folder = node.see(join(plugin, 'pvc-1.deleting~1'));
  mkdirSync(folder, { recursive: true });
  utimesSync(folder, LONG_AGO, LONG_AGO);
  return folder;
}

/** Two faults: one stale mount that is active; a leftover that is active, and one that is latent. */
async function makeTwoFaults({ plugin = 'configmap' } = {}) {
  const { node, runtime } = await makeNode();
  await node.startKubelet({ says: { version: OLD, pods: [podOf(WEB, FROM_API)] } });
  const subpath = await node.subpath({ plugin });
  subpath.update();
  runtime.containers = [refusedBecauseOf(subpath.target)];
  const [active, latent] = [leave(node, GONE), leave(node, WEB.uid)];
  return { node, target: subpath.target, active, latent };
}

describe('recover without a fault', () => {
  it('repairs what is active of every fault, and with --latent the rest', async () => {
    const { node, target, active, latent } = await makeTwoFaults();
    const dry = await expectUntouched(node, () => node.kubediag('recover', '--yes', '--dry-run'));
    expect(dry, dry.stdout + dry.stderr).toMatchObject({ code: 1 });
    expect(dry.stdout).toMatch(/^2 would be repaired, 0 would be refused, 1 left$/m);
    expect(existsSync(active)).toBe(true);

    const some = await node.kubediag('recover', '--yes');
    expect(some, some.stdout + some.stderr).toMatchObject({ code: 1 });
    expect(some.stdout).toMatch(/^for +active finding/m);
    expect(some.stdout).toMatch(/^left +latent finding/m);
    expect(some.stdout).toMatch(/^2 repaired, 0 refused, 0 failed, 1 left\n$/m);
    expect([existsSync(active), existsSync(latent)]).toEqual([false, true]);
    expect(mountLine(node, target)).toBeUndefined();

    const all = await node.kubediag('recover', '--yes', '--latent');
    expect(all, all.stdout + all.stderr).toMatchObject({ code: 0 });
    expect(all.stdout).toMatch(/^1 repaired, 0 refused, 0 failed\n$/m);
    expect(existsSync(latent)).toBe(false);
    const none = await node.kubediag('recover', '--yes');
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(none.stderr).toContain(`${LEFTOVER} is clear on this node: nothing to do\n`);
  });

  it('goes on where one fault is unknown, and does not end as if all were well', async () => {
    const { node, target, active } = await makeTwoFaults({ plugin: 'empty-dir' });
    const ended = await node.kubediag('recover', '--yes', '--latent');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 2 });
    expect(ended.stderr).toContain(`unknown: ${STALE} could not be judged`);
    expect(ended.stdout).toMatch(/^2 repaired, 0 refused, 0 failed\n$/m);
    expect(existsSync(active)).toBe(false);
    expect(mountLine(node, target)).toContain('//deleted ');
  });

  it('does not end as if all were well where a part of a fault stays unknown', async () => {
    const { node, runtime } = await makeNode();
    const pod = podOf(WEB, { spec: { containers: [{ name: 'app' }, { name: 'side' }] } });
    await node.startKubelet({ says: { version: OLD, pods: [pod] } });
    const known = await node.subpath();
    const options = { plugin: 'empty-dir', volume: 'cache', container: 'side' };
    const unknown = await node.subpath(options);
    for (const subpath of [known, unknown]) subpath.update();
    runtime.containers = [
      refusedBecauseOf(known.target),
      { ...refusedBecauseOf(unknown.target), name: 'side' },
    ];
    for (const args of [['--dry-run'], []]) {
      const ended = await node.kubediag('recover', STALE, '--yes', '--latent', ...args);
      expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 2 });
      expect(ended.stdout).toMatch(/^1 (would be )?repaired, 0 (would be )?refused/m);
      expect(ended.stderr.match(/unknown: not all of/g)).toHaveLength(1);
    }
    expect(mountLine(node, known.target)).toBeUndefined();
    expect(mountLine(node, unknown.target)).toContain('//deleted ');
    expect((await node.kubediag('check', STALE)).code).toBe(2);
  });

  it('goes on where one fault is refused, and ends with 3', async () => {
    const { node, target, active } = await makeTwoFaults();
    const above = target.replace(/\/settings\/.*/, '');
    await node.run('mount', '-t', 'tmpfs', 'over', above);
    for (const args of [['--yes', '--dry-run'], ['--yes']]) {
      const ended = await node.kubediag('recover', ...args);
      expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 3 });
      expect(ended.stdout).toMatch(/^refused {2}another mount lies over this one {2}finding \w+$/m);
      expect(ended.stdout).toMatch(/^1 (would be )?repaired, 1 (would be )?refused/m);
    }
    expect(existsSync(active)).toBe(false);
  });

  it('repairs a finding by its id alone, and nothing else', async () => {
    const { node, target, active } = await makeTwoFaults();
    const { faults } = reportOf(await node.kubediag('check', STALE, '-o', 'json'));
    const id = faults[0]?.findings[0]?.id ?? '';
    const ended = await node.kubediag('recover', '--finding', id, '--yes');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(/^1 repaired, 0 refused, 0 failed\n$/m);
    expect(mountLine(node, target)).toBeUndefined();
    expect(existsSync(active)).toBe(true);
    const gone = await node.kubediag('recover', '--finding', id, '--yes');
    expect(gone.code).toBe(3);
    expect(gone.stderr).toContain(`refused: there is no finding "${id}"`);
    const position = await node.kubediag('recover', '--finding', '1', '--yes');
    expect(position.code).toBe(64);
  });

  it('checks again after each repair: what one uncovers is not called clear', async () => {
    const volume = 'kubernetes.io~csi/pvc-7';
    const { node } = await makeHung(`${volume}/mount`, { loop: 'failing' });
    node.write(join(volumeOf(node, volume), 'vol_data.json'), '{"driverName":"csi.example.com"}');
    const ended = await node.kubediag('recover', '--yes');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 2 });
    expect(ended.stdout).toMatch(/^1 repaired, 0 refused, 0 failed\n$/m);
    // As long as the volume was mounted, this fault was clear.
    expect(oneLine(ended.stderr)).toMatch(/unknown: orphaned-volume-metadata .* left a moment ago/);
  });
});

describe('recover without a fault, at a terminal', () => {
  const LEFTOVERS = 'Repair 1 active and 1 latent findings? [y/N] ';
  const STALE_MOUNT = 'Repair 1 active finding? [y/N] ';

  it('asks once for each fault, and leaves what is declined', async () => {
    const { node, target, active, latent } = await makeTwoFaults();
    const recover = atTerminal(node, ['recover']);
    await recover.hasSaid(LEFTOVERS);
    recover.child.stdin?.write('n\r');
    await recover.hasSaid(STALE_MOUNT);
    recover.child.stdin?.write('y\r');
    const { code, stdout } = await recover.end;
    expect(code, stdout).toBe(1);
    expect(stdout).toContain(`${LEFTOVER}: declined; nothing was changed`);
    expect(stdout).toContain('1 repaired, 0 refused, 0 failed, 2 left\r\n');
    expect([existsSync(active), existsSync(latent)]).toEqual([true, true]);
    expect(mountLine(node, target)).toBeUndefined();
  });

  it('takes a yes for all that it has shown, what is latent included', async () => {
    const { node, active, latent } = await makeTwoFaults();
    const recover = atTerminal(node, ['recover', LEFTOVER]);
    await recover.hasSaid(LEFTOVERS);
    recover.child.stdin?.write('y\r');
    const { code, stdout } = await recover.end;
    expect(code, stdout).toBe(0);
    expect([existsSync(active), existsSync(latent)]).toEqual([false, false]);
  });

  it('asks nothing more after Ctrl-C, and says what it did not check', async () => {
    const { node, active } = await makeTwoFaults();
    const { code, stdout } = await expectUntouched(node, async () => {
      const recover = atTerminal(node, ['recover']);
      await recover.hasSaid(LEFTOVERS);
      recover.child.stdin?.write('\x03');
      return recover.end;
    });
    expect(code, stdout).toBe(3);
    expect(stdout).not.toContain(STALE_MOUNT);
    expect(oneLine(stdout)).toContain(
      `stopped; not checked: orphaned-volume-metadata, resolv-conf-over-limit, ${STALE}`,
    );
    expect(existsSync(active)).toBe(true);
  });
});
