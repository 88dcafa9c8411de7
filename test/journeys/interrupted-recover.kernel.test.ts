import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { childOf } from '../../lab/process-mark.ts';
import {
  breakNode,
  check,
  expectUntouched,
  FAULT,
  makeNode,
  mountLine,
} from '../rig/faulty-node.ts';
import { type Gate, GatedUmount } from '../rig/gated-umount.ts';
import type { PracticeNode } from '../rig/practice-node.ts';
import { atTerminal } from '../rig/run-in-terminal.ts';
import { EXECUTABLE, oneLine, type Running } from '../rig/run-kubediag.ts';

const RECOVER = ['recover', FAULT, '--yes'];

async function makeGated() {
  const sick = await makeNode();
  const subpath = await breakNode(sick);
  return { ...sick, subpath, target: subpath.target, umount: await GatedUmount.install(sick.node) };
}

/** To the program itself: what entered the namespaces for it is its parent. */
async function signal({ child }: Running, name: NodeJS.Signals): Promise<void> {
  process.kill(await childOf(child.pid ?? 0), name);
}

async function journalOf(node: PracticeNode): Promise<readonly string[]> {
  const { code, stdout } = await node.kubediag('journal', '-o', 'json');
  expect(code).toBe(0);
  const entries = JSON.parse(stdout) as { outcome: { state: string } }[];
  return entries.map(({ outcome }) => outcome.state);
}

/** Recovers until it is interrupted at a gate of umount, which opens right afterwards. */
async function interruptAt(gate: Gate, name: NodeJS.Signals) {
  const fixture = await makeGated();
  const { node, umount } = fixture;
  umount.close(gate);
  const recover = node.start(RECOVER);
  await umount.reached(gate);
  await signal(recover, name);
  if (name === 'SIGINT') await recover.hasSaid('stopping; what has begun is finished first');
  umount.open(gate);
  return { ...fixture, ended: await recover.end };
}

async function untilGone(node: PracticeNode, target: string): Promise<void> {
  for (let tries = 0; mountLine(node, target) && tries < 200; tries += 1) await sleep(20);
  expect(mountLine(node, target)).toBeUndefined();
}

describe('a recovery that is interrupted', () => {
  it.each(['SIGINT', 'SIGKILL'] as const)(
    'by %s while it looks: nothing was done',
    async (name) => {
      const { node, runtime, target, umount } = await makeGated();
      const held = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      runtime.beforeAnswer = (call) => {
        if (call === 'ListContainers') asked.resolve();
        return held.promise;
      };
      runtime.beforeAnswer = async (call) => {
        if (call !== 'ListContainers') return;
        asked.resolve();
        await held.promise;
      };
      const recover = node.start(RECOVER);
      await asked.promise;
      const ended = await expectUntouched(node, async () => {
        await signal(recover, name);
        return recover.end;
      });
      held.resolve();
      expect(ended.signal).toBe(name);
      expect(await journalOf(node)).toEqual([]);
      runtime.beforeAnswer = () => {};
      expect((await node.kubediag(...RECOVER)).code).toBe(0);
      expect(mountLine(node, target)).toBeUndefined();
      expect(umount.unmounted).toHaveLength(1);
    },
  );

  it('by SIGINT before the act: refused, nothing was done', async () => {
    const { node, umount, target, ended } = await interruptAt('help', 'SIGINT');
    expect(ended.code).toBe(3);
    expect(ended.stdout).toMatch(/^refused {2}stopped/m);
    expect(ended.stdout).toContain('nothing was changed');
    expect(mountLine(node, target)).toContain('//deleted ');
    expect(umount.unmounted).toEqual([]);
    expect(await journalOf(node)).toEqual([]);
  });

  it('by SIGKILL before the act: nothing was done, and the next one does it', async () => {
    const { node, umount, target, ended } = await interruptAt('help', 'SIGKILL');
    expect(ended.signal).toBe('SIGKILL');
    expect(mountLine(node, target)).toContain('//deleted ');
    expect(await journalOf(node)).toEqual([]);
    expect((await node.kubediag(...RECOVER)).code).toBe(0);
    expect(umount.unmounted).toHaveLength(1);
    expect(await journalOf(node)).toEqual(['done']);
  });

  it.each(['before', 'after'] as const)('by SIGINT %s the unmount: finished', async (gate) => {
    const { node, umount, target, ended } = await interruptAt(gate, 'SIGINT');
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('done  the mount is gone');
    expect(mountLine(node, target)).toBeUndefined();
    expect(umount.unmounted).toHaveLength(1);
    expect(await journalOf(node)).toEqual(['done']);
  });

  it.each(['before', 'after'] as const)(
    'by SIGKILL %s the unmount: the journal shows it, the next one settles it',
    async (gate) => {
      const { node, umount, target, ended } = await interruptAt(gate, 'SIGKILL');
      expect(ended.signal).toBe('SIGKILL');
      expect(await journalOf(node)).toEqual(['unfinished']);
      await untilGone(node, target);
      const next = await node.kubediag(...RECOVER);
      expect(next.code).toBe(0);
      expect(next.stderr).toContain('journal entry 1 of an earlier run was left open; done: ');
      expect(umount.unmounted).toHaveLength(1);
      expect(await journalOf(node)).toEqual(['done']);
      expect((await check(node)).fault.verdict).toBe('clear');
    },
  );
});

describe('a recovery that is not allowed to act', () => {
  const open = 'journal entry 1 of an earlier run is open; the next repair settles it first\n';

  it('because there is no kubelet leaves open what an earlier one left so', async () => {
    const { node, target } = await interruptAt('before', 'SIGKILL');
    await untilGone(node, target);
    await node.stopKubelet();
    const ended = await node.kubediag(...RECOVER);
    expect(ended.code, ended.stdout + ended.stderr).toBe(2);
    expect(ended.stderr).toMatch(/^No kubelet/);
    expect(ended.stderr).toContain(open);
    expect(await journalOf(node)).toEqual(['unfinished']);
  });

  it('reports what an earlier one left open, and leaves it open', async () => {
    const { node, target, subpath } = await interruptAt('before', 'SIGKILL');
    await untilGone(node, target);
    await subpath.bind();
    subpath.update();
    const noTerminal = await expectUntouched(node, () => node.kubediag('recover', FAULT));
    expect(noTerminal.code).toBe(3);
    expect(noTerminal.stderr).toContain('so nothing was changed');
    expect(noTerminal.stderr).toContain(open);
    expect(await journalOf(node)).toEqual(['unfinished']);

    for (const [key, word] of [
      ['n\r', 'declined'],
      ['\x03', 'stopped'],
    ] as const) {
      const asking = atTerminal(node, ['recover', FAULT]);
      await asking.hasSaid('[y/N] ');
      asking.child.stdin?.write(key);
      const { stdout } = await asking.end;
      expect(stdout).toContain(`${word}; nothing was changed`);
      expect(stdout.replaceAll('\r', '')).toContain(open);
      expect(await journalOf(node)).toEqual(['unfinished']);
    }

    expect((await node.kubediag(...RECOVER)).code).toBe(0);
    expect(await journalOf(node)).toEqual(['done', 'done']);
  });
});

describe('a recovery whose reader is gone while it acts', () => {
  it.each([
    ['closed its end of the pipe', ['sh', '-c', '"$@" 2>&1 | true', 'sh']],
    ['hung up the terminal', ['script', '--quiet', '--command', '"$KUBEDIAG" $WORDS', '/dev/null']],
  ])('because it %s is carried to its end', async (_name, through) => {
    const { node, umount, target } = await makeGated();
    const args = [...RECOVER, '--state-dir', node.stateFolder];
    const environment = { KUBEDIAG: EXECUTABLE, WORDS: args.join(' ') };
    const program = through[0] === 'sh' ? [EXECUTABLE, ...args] : [];
    umount.close('before');
    const recover = node.startHere([...through, ...program], environment);
    await umount.reached('before');
    // Of the pipe, the reader is gone already; of the terminal, it goes now.
    if (through[0] === 'script') process.kill(await childOf(recover.child.pid ?? 0), 'SIGKILL');
    await sleep(200);
    umount.open('before');
    await untilGone(node, target);
    await vi.waitFor(async () => expect(await journalOf(node)).toEqual(['done']), 10_000);
    expect(umount.unmounted).toHaveLength(1);
  });
});

describe('a recovery after one that was killed while its unmount still waits', () => {
  it('does nothing until that one has ended, and then reports how', async () => {
    const { node, umount, target } = await makeGated();
    umount.close('before');
    const killed = node.start(RECOVER);
    await umount.reached('before');
    await signal(killed, 'SIGKILL');
    await killed.end;
    const early = await node.kubediag(...RECOVER);
    expect(early.code).toBe(3);
    expect(oneLine(early.stderr)).toMatch(
      /journal entry 1 .* not settled: process \d+ still unmounts it/,
    );
    expect(early.stdout).toContain('refused  this mount is being unmounted already');
    expect(mountLine(node, target)).toBeDefined();

    umount.open('before');
    await expect.poll(() => mountLine(node, target)).toBeUndefined();
    const later = await node.kubediag(...RECOVER);
    expect(later.code, later.stderr).toBe(0);
    expect(umount.unmounted).toHaveLength(1);
    expect(await journalOf(node)).toEqual(['done']);
  });
});

describe('two recoveries at once', () => {
  it('one acts, the other reports which process holds the lock', async () => {
    const { node, umount, target } = await makeGated();
    umount.close('before');
    const first = node.start(RECOVER);
    await umount.reached('before');
    const second = await node.kubediag(...RECOVER);
    expect(second.code).toBe(3);
    expect(second.stdout).toMatch(/^refused {2}another recovery \(pid \d+, since .*\) is at work/m);
    expect(second.stdout).toContain('wait until it is done');
    umount.open('before');
    expect((await first.end).code).toBe(0);
    expect(mountLine(node, target)).toBeUndefined();
    expect(umount.unmounted).toHaveLength(1);
    expect(await journalOf(node)).toEqual(['done']);
  });

  it('started in the same moment, unmount once', async () => {
    const { node, umount, target } = await makeGated();
    const ended = await Promise.all([1, 2, 3].map(() => node.kubediag(...RECOVER)));
    expect(mountLine(node, target)).toBeUndefined();
    expect(umount.unmounted).toHaveLength(1);
    for (const { code, stdout, stderr } of ended) {
      expect([0, 3], stdout + stderr).toContain(code);
    }
    expect(ended.filter(({ code }) => code === 0).length).toBeGreaterThan(0);
  });
});
