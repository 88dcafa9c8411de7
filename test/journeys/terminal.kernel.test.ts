import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childOf } from '../../lab/process-mark.ts';
import { reportSchema } from '../../tools/report-schema.ts';
import {
  breakNode,
  check,
  expectUntouched,
  FAULT,
  makeNode,
  mountLine,
  type NodeWithRuntime,
} from '../rig/faulty-node.ts';
import type { PracticeNode, Subpath } from '../rig/practice-node.ts';
import { atTerminal, COLUMNS } from '../rig/run-in-terminal.ts';
import { EXECUTABLE, reportOf } from '../rig/run-kubediag.ts';

const QUESTION = 'Repair 1 active finding? [y/N] ';

/** One faulty node for all: these tests only check, and a test that repairs restores the fault. */
describe('a person at a terminal', () => {
  const undo: (() => Promise<void> | void)[] = [];
  let sick: NodeWithRuntime;
  let node: PracticeNode;
  let subpath: Subpath;

  beforeAll(async () => {
    sick = await makeNode((step) => undo.push(step));
    node = sick.node;
    subpath = await breakNode(sick);
  });

  afterAll(async () => {
    for (const step of undo.toReversed()) await step();
  });

  it('reads lines of at most 80 columns, but for what is to be copied', async () => {
    for (const words of [['check'], ['check', '-o', 'wide'], ['recover', FAULT, '--dry-run']]) {
      const { stdout } = await atTerminal(node, words).end;
      const lines = plainLines(stdout);
      expect(lines.length).toBeGreaterThan(10);
      expect(lines.filter((line) => line.length > COLUMNS && !isCopied(line))).toEqual([]);
      expect(stdout).toContain('\x1b[');
    }
  });

  it('reads the answer first, and with -v what was asked for it below', async () => {
    const { stdout } = await atTerminal(node, ['check', '-v']).end;
    const lines = plainLines(stdout);
    expect(lines[0]).toMatch(/^1 fault, 1 finding: stale-subpath-mount 1/);
    const end = lines.findIndex((line) => line.includes('faults named above'));
    const asked = lines.findIndex((line) => line.startsWith('asked '));
    expect(end).toBeGreaterThan(0);
    expect(asked).toBeGreaterThan(end);
  });

  it('finds a word and a gap before everything on a wide screen', async () => {
    const { stdout } = await node.kubediag('check', '-o', 'wide');
    const block = stdout.slice(stdout.indexOf('  why '));
    const labels = block.match(/^ {2}\S.*$/gm) ?? [];
    expect(labels.map((line) => /^ {2}([a-z]+) +\S/.exec(line)?.[1])).toEqual([
      'why',
      'not',
      'scope',
      'do',
    ]);
  });

  it('sees no colour with NO_COLOR, and none in a pipe', async () => {
    const { stdout } = await atTerminal(node, ['check'], { NO_COLOR: '1' }).end;
    // [31m is a colour. The progress line may still be cleared, which is none.
    const marks = stdout.split('\x1b').slice(1);
    expect(marks.filter((text) => /^\[[\d;]*m/.test(text))).toEqual([]);
    expect(stdout).toContain('ACTIVE');
    const piped = await node.kubediag('check');
    expect(piped.stdout + piped.stderr).not.toContain('\x1b');
  });

  it('may stop reading early', async () => {
    const shell = ['sh', '-c', `{ ${EXECUTABLE} "$@"; echo "code $?" >&2; } | head -1`, 'sh'];
    const first = await node.startHere([...shell, 'check']).end;
    expect(first.stdout.split('\n')).toHaveLength(2);
    expect(first.stderr).toBe('code 1\n');
    const closed = ['sh', '-c', `{ sleep 0.2; ${EXECUTABLE} "$@"; echo "code $?" >&2; } | true`];
    const none = await node.startHere([...closed, 'sh', 'check', '-o', 'json']).end;
    expect(none.stderr).toBe('code 1\n');
  });

  it('reports output that does not fit on the disk, and a recovery is finished', async () => {
    const full = ['sh', '-c', `${EXECUTABLE} "$@" > /dev/full`, 'sh'];
    const snapshot = await node.startHere([...full, 'check']).end;
    expect(snapshot.code).toBe(3);
    expect(snapshot.stderr).toMatch(/^kubediag: cannot write the output: ENOSPC.*\n$/);
    const other = await makeNode();
    const { target } = await breakNode(other);
    const state = ['--state-dir', other.node.stateFolder];
    await other.node.startHere([...full, 'recover', FAULT, '--yes', ...state]).end;
    expect(mountLine(other.node, target)).toBeUndefined();
    const journal = await other.node.kubediag('journal', '-o', 'json');
    expect(JSON.parse(journal.stdout)).toMatchObject([{ outcome: { state: 'done' } }]);
  });

  it('gets JSON of the published shape', async () => {
    const report = reportOf((await check(node)).ended);
    expect(reportSchema.parse(report)).toEqual(report);
  });

  it.each([
    ['says no', 'n\r', 1],
    ['presses enter', '\r', 1],
    ['presses Ctrl-C', '\x03', 3],
    ['closes the input', '\x04', 1],
  ])('who %s at the question changes nothing', async (_name, keys, expected) => {
    const { code, stdout } = await expectUntouched(node, async () => {
      const recover = atTerminal(node, ['recover', FAULT]);
      await recover.hasSaid(QUESTION);
      recover.child.stdin?.write(keys);
      return recover.end;
    });
    expect(code, stdout).toBe(expected);
    expect(stdout).toContain('nothing was changed');
    expect(stdout).toContain(expected === 1 ? ', 1 left' : '1 refused');
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP'] as const)(
    'whose question is ended by %s finds nothing changed',
    async (name) => {
      await expectUntouched(node, async () => {
        const recover = atTerminal(node, ['recover', FAULT]);
        await recover.hasSaid(QUESTION);
        process.kill(await youngestOf(recover.child.pid ?? 0), name);
        return recover.end;
      });
      expect((await node.kubediag('journal', '-o', 'json')).stdout).toBe('[]\n');
    },
  );

  it('says yes, and it is done', async () => {
    const recover = atTerminal(node, ['recover', FAULT]);
    await recover.hasSaid(QUESTION);
    recover.child.stdin?.write('y\r');
    const { code, stdout } = await recover.end;
    expect(code, stdout).toBe(0);
    expect(plainLines(stdout).join('\n')).toContain('done  the mount is gone');
    expect(mountLine(node, subpath.target)).toBeUndefined();
    const lines = plainLines(stdout).filter((line) => !line.includes('saved to'));
    expect(lines.filter((line) => line.length > COLUMNS && !isCopied(line))).toEqual([]);
  });
});

/** The executable at the end of the chain of programs that start one another for it. */
async function youngestOf(pid: number): Promise<number> {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  return words.startsWith(EXECUTABLE) ? pid : youngestOf(await childOf(pid));
}

/** A command, or a path that has a line of its own because it is never broken. */
function isCopied(line: string): boolean {
  return /\b(kubediag|kubectl|nsenter|umount) /.test(line) || /^ +(from )?\S+$/.test(line);
}

/** What stays on the screen of each line, without its colours. */
function plainLines(text: string): readonly string[] {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.split('\r').at(-1) ?? '')
    .map(stripVTControlCharacters);
}
