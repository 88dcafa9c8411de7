import { mapAtOnce } from '../../../lib/std/map-at-once.ts';
import { attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import type { OpenFile } from '../../model/node-reader.ts';
import { PROCESSES_AT_ONCE_MAX } from '../limits.ts';
import { mountNamespaces } from './mount-namespaces.ts';

/** One open file per mount or filesystem that a process uses. */
export interface HeldMount {
  readonly pid: number;
  readonly processName: string;
  readonly file: OpenFile;
}

export interface OpenMounts {
  readonly held: readonly HeldMount[];
  /** Processes that could not be read, and why. */
  readonly unread: readonly string[];
}

/** Reads every process, which takes a while on a full node: only before a repair. */
export const openMounts = defineEvidence<OpenMounts>({
  id: 'open-mounts',
  title: 'What every process holds open',
  collect: async (snapshot) => {
    const all = await snapshot.node.ask('processes', { all: 'processes' });
    const held: HeldMount[] = [];
    const unread: string[] = [];
    await mapAtOnce(all, PROCESSES_AT_ONCE_MAX, async ({ pid, name }) => {
      const asked = { filesOf: pid, under: [], mountIds: 'each' } as const;
      const files = await attempt(snapshot.node.ask('openFiles', asked));
      if (files.known) {
        held.push(...files.value.map((file) => ({ pid, processName: name, file })));
      } else if (files.error.failure !== 'missing') {
        // A process that has exited holds nothing.
        unread.push(`${name} (pid ${pid}): ${files.why}`);
      }
    });
    return { held, unread };
  },
});

/**
 * Mount namespaces without a process that an open file holds. No table that we can read shows their
 * mounts. mount-namespaces.ts finds those that a bind mount holds.
 */
export async function storedNamespaces(snapshot: Snapshot): Promise<readonly string[]> {
  const [{ held, unread }, { namespaces }] = await Promise.all([
    snapshot.of(openMounts),
    snapshot.of(mountNamespaces),
  ]);
  const inhabited = new Set(namespaces.map(({ namespace }) => namespace));
  const stored = held
    // mnt:[4026532008]
    .filter(({ file }) => file.path.startsWith('mnt:[') && !inhabited.has(file.path))
    .map(
      ({ pid, processName, file }) =>
        `${file.path}: no process lives in it; ${processName} (pid ${pid}) holds it by ${file.by}`,
    );
  return [...stored, ...unread];
}
