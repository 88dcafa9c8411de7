import { expect } from 'vitest';
import { eventually, programsOn } from './agent-on-node.ts';
import { FAULT } from './faulty-node.ts';
import { FaultySubpathNode } from './faulty-subpath-node.ts';
import { type Blow, type Killed, killRunning } from './kill-running.ts';
import { mountChanges, mountTables } from './mount-tables.ts';

const RECOVER = ['recover', FAULT, '--yes'];

/** A node without an agent, whose pod falls sick again and again. */
export interface RecoverTrial {
  readonly patient: FaultySubpathNode;
  /** What runs there when nobody recovers. */
  readonly idle: readonly string[];
}

export async function beginRecoverTrial(): Promise<RecoverTrial> {
  const patient = await FaultySubpathNode.make();
  return { patient, idle: programsOn(patient.node) };
}

/** Kills a recovery. The next one ends it right. */
export async function expectRecovered(
  { patient, idle }: RecoverTrial,
  blow: Blow,
): Promise<Killed> {
  const { node, unmounts: before, journal } = patient;
  const { stale, tables } = patient.breakNode();
  const stop = new AbortController();
  const mounting = patient.mountsAnew(stop.signal);
  const killed = await killRunning(node.start(RECOVER), blow);
  // The umount of the one that was killed may still be under way.
  const next = eventually('a recovery that is not refused', async () => {
    const ended = await node.kubediag(...RECOVER);
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  });
  await next.finally(() => stop.abort());
  const fresh = await mounting;

  const changes = mountChanges(tables, mountTables(node.inside));
  expect(changes).toEqual([`- ${stale}`, `+ ${fresh}`]);
  const { asked, done } = patient.unmounts;
  expect({ asked: asked - before.asked, done: done - before.done }).toEqual({ asked: 1, done: 1 });
  expectOneDone(patient, journal.records.length);
  await eventually('the end of all that was started', () => expect(programsOn(node)).toEqual(idle));
  return killed;
}

function expectOneDone({ journal }: FaultySubpathNode, recordsBefore: number): void {
  const { records, unfinished, errors } = journal;
  expect({ unfinished, errors }).toEqual({ unfinished: [], errors: [] });
  const outcomes = records.slice(recordsBefore).flatMap(({ outcome }) => outcome?.state ?? []);
  // A crash between intent and action was checked: it had no effect.
  expect(outcomes.filter((state) => state !== 'no-effect')).toEqual(['done']);
}
