import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  breakNode,
  check,
  expectUntouched,
  FAULT,
  makeNode,
  mountLine,
} from '../rig/faulty-node.ts';
import { GatedUmount } from '../rig/gated-umount.ts';
import type { PracticeNode } from '../rig/practice-node.ts';
import { type Ended, oneLine } from '../rig/run-kubediag.ts';

/** A page of memory: the smallest size of a filesystem in memory. */
const PAGE_BYTES = 4096;

async function makeFaultyNode() {
  const sick = await makeNode();
  return { ...sick, subpath: await breakNode(sick) };
}

async function expectRefused(node: PracticeNode, ...args: readonly string[]): Promise<Ended> {
  const ended = await expectUntouched(node, () => node.kubediag('recover', FAULT, ...args));
  expect(ended.code, ended.stdout + ended.stderr).toBe(3);
  return ended;
}

/** A dry run foresees it, with the same words and the same code. */
async function expectForeseen(node: PracticeNode): Promise<Ended> {
  const ended = await expectRefused(node, '--yes');
  const foreseen = await expectRefused(node, '--dry-run', '--yes');
  const refusalOf = ({ stdout }: Ended) => stdout.match(/^refused {2}.*(\n {2}.*)*/m)?.[0];
  expect(refusalOf(ended), ended.stdout).toBeDefined();
  expect(refusalOf(foreseen)).toBe(refusalOf(ended));
  expect(foreseen.stdout).toContain('0 would be repaired, 1 would be refused\n');
  return ended;
}

describe('a recovery does nothing', () => {
  it('without a terminal and without --yes', async () => {
    const { node } = await makeFaultyNode();
    const { stderr } = await expectRefused(node);
    expect(stderr).toContain('refused: there is no terminal to ask on');
    expect(stderr).toContain('--yes');
  });

  it('with --dry-run: the plan is shown', async () => {
    const { node, subpath } = await makeFaultyNode();
    const args = ['recover', FAULT, '--dry-run', '--yes'];
    const ended = await expectUntouched(node, () => node.kubediag(...args));
    expect(ended.code).toBe(0);
    expect(ended.stdout.replace(/\n */g, '')).toContain(`1. unmount ${subpath.target}`);
    expect(ended.stdout).toContain('1 would be repaired, 0 would be refused\n');
    expect(ended.stderr).toContain('dry run: nothing was changed');
    expect(existsSync(node.stateFolder)).toBe(false);
    expect((await node.kubediag('journal')).stdout).toContain('No actions on this node yet');
  });

  it('for a finding that is gone', async () => {
    const { node, subpath } = await makeFaultyNode();
    const { fault } = await check(node);
    const id = fault.findings[0]?.id ?? '';
    expect((await node.kubediag('recover', FAULT, '--finding', id, '--yes')).code).toBe(0);
    const none = await expectRefused(node, '--finding', id, '--yes');
    expect(none.stderr).toContain(`refused: there is no finding "${id}"`);
    expect(none.stderr).toContain('now there is none; it may be gone, or remade');
    await subpath.bind();
    subpath.update();
    const now = (await check(node)).fault.findings[0]?.id;
    expect(now).not.toBe(id);
    const remade = await expectRefused(node, '--finding', id, '--yes');
    expect(remade.stderr).toContain(`now there are: ${now}`);
  });

  it('while a process uses the mount, which is named', async () => {
    const { node, subpath } = await makeFaultyNode();
    const holder = node.startHere([
      'sh',
      '-c',
      'exec 9<"$0"; echo ready; sleep 600',
      subpath.target,
    ]);
    await holder.hasSaid('ready');
    const { stdout } = await expectRefused(node, '--yes');
    expect(stdout).toContain('failed  the mount is in use, and is not taken away by force');
    expect(stdout).toMatch(/held by sh \(pid \d+, fd\/9\)/);
    expect(stdout).toContain('let those processes end, then recover again');
    expect(stdout).not.toMatch(/^ {2}run {3}/m);
    const foreseen = await expectRefused(node, '--yes', '--dry-run');
    expect(foreseen.stdout).toContain('failed  the mount is in use');
    expect(foreseen.stdout).toMatch(/held by sh \(pid \d+, fd\/9\)/);
    expect(foreseen.stdout).toContain('0 would be repaired, 0 would be refused, 1 would fail\n');
  });

  it('with another mount over it', async () => {
    const { node, subpath } = await makeFaultyNode();
    const above = subpath.target.replace(/\/settings\/.*/, '');
    await node.run('mount', '-t', 'tmpfs', 'over', above);
    const { stdout } = await expectForeseen(node);
    expect(stdout).toContain('refused  another mount lies over this one');
    expect(stdout).toMatch(/^0 repaired, 1 refused, 0 failed$/m);
  });

  it('to the new mount, when the kubelet exchanges it while umount starts', async () => {
    const { node, subpath } = await makeFaultyNode();
    const umount = await GatedUmount.install(node);
    umount.close('before');
    const recover = node.start(['recover', FAULT, '--yes']);
    await umount.reached('before');
    await node.run(join(node.scratch, 'umount/real'), subpath.target);
    await subpath.bind();
    const { code, stdout } = await recover.end;
    umount.open('before');
    expect(code, stdout).toBe(0);
    expect(oneLine(stdout)).toContain('another mount came to the path meanwhile');
    expect(mountLine(node, subpath.target)).not.toContain('//deleted');
    expect(umount.unmounted).toEqual([]);
    const journal = await node.kubediag('journal', '-o', 'json');
    const note = expect.stringContaining('was left alone');
    expect(JSON.parse(journal.stdout)).toMatchObject([{ outcome: { state: 'done', note } }]);
  });

  it('with an umount of BusyBox, which has no --no-canonicalize', async () => {
    const { node } = await makeFaultyNode();
    const busybox = join(node.scratch, 'busybox');
    const says = '#!/bin/sh\necho "BusyBox v1.35.0 (Debian) multi-call binary." >&2\n';
    writeFileSync(busybox, says, { mode: 0o755 });
    await node.run('mount', '--bind', busybox, '/usr/bin/umount');
    const { stdout } = await expectForeseen(node);
    expect(stdout).toContain('refused  cannot unmount here');
    expect(oneLine(stdout)).toContain("is BusyBox's, which has no --no-canonicalize");
  });

  it('when its directory can only be read', async () => {
    const { node } = await makeFaultyNode();
    mkdirSync(node.stateFolder);
    await node.run('mount', '-t', 'tmpfs', '-o', 'ro,mode=700', 'small', node.stateFolder);
    const { stderr } = await expectRefused(node, '--yes');
    expect(stderr).toContain('refused: the evidence cannot be saved');
    expect(stderr).toContain('read-only file system');
    expect(stderr).toContain('choose another --state-dir; nothing was changed');
    const foreseen = await expectRefused(node, '--yes', '--dry-run');
    expect(oneLine(foreseen.stdout)).toContain('read-only file system');
  });

  it('when a file is where its evidence belongs', async () => {
    const { node } = await makeFaultyNode();
    mkdirSync(node.stateFolder, { mode: 0o700 });
    writeFileSync(join(node.stateFolder, 'bundles'), '');
    for (const args of [['--yes'], ['--yes', '--dry-run']]) {
      const { stderr } = await expectRefused(node, ...args);
      expect(stderr).toContain('refused: the evidence cannot be saved');
      expect(stderr).toContain('not a directory');
    }
  });

  it('when others could have written its journal', async () => {
    const { node } = await makeFaultyNode();
    mkdirSync(node.stateFolder);
    await node.run('chmod', '777', node.stateFolder);
    const { stderr } = await expectRefused(node, '--yes');
    const why = `others than its owner can write to ${node.stateFolder} (mode 0777)`;
    expect(oneLine(stderr)).toContain(why);
    expect(oneLine(stderr)).toContain(`chmod 700 ${node.stateFolder}`);
    const foreseen = await expectRefused(node, '--yes', '--dry-run');
    expect(oneLine(foreseen.stdout)).toContain(why);
    expect(readdirSync(node.stateFolder)).toEqual([]);
  });

  it('while another recovery is at work, of which a dry run knows as well', async () => {
    const { node } = await makeFaultyNode();
    const umount = await GatedUmount.install(node);
    umount.close('before');
    const first = node.start(['recover', FAULT, '--yes']);
    await umount.reached('before');
    const before = readdirSync(node.stateFolder).toSorted();
    const foreseen = await expectRefused(node, '--yes', '--dry-run');
    expect(foreseen.stdout).toMatch(/^refused {2}another recovery \(pid \d+,/m);
    expect(readdirSync(node.stateFolder).toSorted()).toEqual(before);
    umount.open('before');
    expect((await first.end).code).toBe(0);
  });

  it('when the filesystem of its directory is read-only, without the advice to free space', async () => {
    const { node } = await makeFaultyNode();
    mkdirSync(node.stateFolder);
    await node.run('mount', '-t', 'tmpfs', '-o', 'mode=700,ro', 'small', node.stateFolder);
    for (const args of [['--yes'], ['--yes', '--dry-run']]) {
      const { stdout, stderr } = await expectRefused(node, ...args);
      const output = oneLine(stdout + stderr);
      expect(output).toContain('read-only file system');
      expect(output).toContain('mount it read-write, or choose another --state-dir');
      expect(output).not.toContain('free some space');
    }
  });

  it('when the disk is full, at whichever file', async () => {
    const { node, subpath } = await makeFaultyNode();
    mkdirSync(node.stateFolder);
    const refusals = new Set<string>();
    // A little more space each time, until there is enough for all: at first no inode is left.
    for (let pages = 0; mountLine(node, subpath.target) && pages < 20; pages += 1) {
      const options = pages === 0 ? 'mode=700,nr_inodes=2' : `mode=700,size=${pages * PAGE_BYTES}`;
      await node.run('mount', '-t', 'tmpfs', '-o', options, 'small', node.stateFolder);
      const dry = await node.kubediag('recover', FAULT, '--yes', '--dry-run');
      const { code, stdout, stderr } = await node.kubediag('recover', FAULT, '--yes');
      expect(dry, `${options}\n${dry.stderr}${stderr}`).toMatchObject({ code });
      if (mountLine(node, subpath.target)) {
        expect(code).toBe(3);
        expect(oneLine(stdout + stderr)).toContain('nothing was changed');
        expect(stdout + stderr).toContain('no space left on device');
        expect(dry.stderr).toContain('no space left on device');
        refusals.add(
          /^refused[: ] *(.*?)( {2}finding \w+)?$/m.exec(stderr + stdout)?.[1]?.trim() ?? '',
        );
      }
      await node.run('umount', node.stateFolder);
    }
    expect(mountLine(node, subpath.target)).toBeUndefined();
    expect([...refusals]).toEqual([
      'the evidence cannot be saved',
      `our directory ${node.stateFolder} cannot be used`,
      'the journal cannot be written',
    ]);
  });
});
