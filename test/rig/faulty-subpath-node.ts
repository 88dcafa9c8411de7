import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MountTables } from '../../lab/mount-tables.ts';
import { type JournalReading, readJournal } from '../../src/node/repair/journal.ts';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { openSqliteStore } from '../../src/pipeline/store/sqlite-store.ts';
import type { StoredObject } from '../../src/pipeline/store/store.ts';
import { AgentOnNode } from './agent-on-node.ts';
import {
  makeNode,
  mountLine,
  type NodeWithRuntime,
  OLD,
  podOf,
  refusedBecauseOf,
} from './faulty-node.ts';
import { GatedUmount } from './gated-umount.ts';
import { mountTables } from './mount-tables.ts';
import type { PracticeNode, Subpath } from './practice-node.ts';

/** The pod of the manual's pipeline. */
export const CORE = {
  uid: '29da79e5-386c-4e0d-82c1-215f93ff955d',
  name: 'core2-5b89896b96-d44xl',
  namespace: 'default',
};
/** Rarely enough to leave the processor to others. */
const CHECK_INTERVAL_MS = 10;
export const DIAGNOSES = '/namespaces/default/diagnoses';

/** The progress of a Diagnosis of the pipeline, as it is on disk. */
export const STAGES = [
  'not stored',
  'stored',
  'step 1',
  'step 2',
  'step 3',
  'step 4',
  'intent written',
  'unmounted',
  'outcome written',
  'ended',
] as const;
export type Stage = (typeof STAGES)[number];

/** A node whose pod can fall sick of a stale subPath mount again and again, with an agent on it. */
export class FaultySubpathNode {
  readonly node: PracticeNode;
  readonly agent: AgentOnNode;
  readonly umount: GatedUmount;
  readonly #runtime: NodeWithRuntime['runtime'];
  readonly #volume: Subpath;

  private constructor({ node, runtime }: NodeWithRuntime, umount: GatedUmount, volume: Subpath) {
    this.node = node;
    this.#runtime = runtime;
    this.umount = umount;
    this.#volume = volume;
    this.agent = new AgentOnNode(node, 'my-node');
  }

  static async make(): Promise<FaultySubpathNode> {
    const sick = await makeNode();
    const { node } = sick;
    await node.startKubelet({ says: { version: OLD, pods: [podOf(CORE)] } });
    const umount = await GatedUmount.install(node);
    const place = { volume: 'logrotateconf', container: 'debian', subPath: 'nginx.log' };
    return new FaultySubpathNode(sick, umount, await node.subpath({ podUid: CORE.uid, ...place }));
  }

  get line(): string | undefined {
    return mountLine(this.node, this.#volume.target);
  }

  get journal(): JournalReading {
    return readJournal(this.node.stateFolder);
  }

  /** The file is written again below its mount, and the container cannot start any more. */
  breakNode(): { readonly stale: string; readonly tables: MountTables } {
    this.#volume.update();
    const container = { ...refusedBecauseOf(this.#volume.target), pod: CORE, name: 'debian' };
    this.#runtime.containers = [container];
    const { line: stale = '' } = this;
    return { stale, tables: mountTables(this.node.inside) };
  }

  /**
   * Once the mount is gone, mounts again in its place at once, as the kubelet does: a process that unmounts a
   * second time takes this one away. Gives its line.
   */
  async mountsAnew(stop: AbortSignal): Promise<string | undefined> {
    while (this.line !== undefined && !stop.aborted) await sleep(CHECK_INTERVAL_MS);
    if (this.line !== undefined) return undefined;
    await this.#volume.bind();
    return this.line;
  }

  /** How often somebody was about to unmount it, and how often it was unmounted. */
  get unmounts(): { readonly asked: number; readonly done: number } {
    const ours = (lines: readonly string[]) =>
      lines.filter((line) => line.endsWith(` ${this.#volume.target}`)).length;
    return { asked: ours(this.umount.asked), done: ours(this.umount.unmounted) };
  }

  /** What the runtime would mount into a container that is started now, or why it cannot. */
  async tryMount(): Promise<string> {
    return this.#volume.tryMount();
  }

  /** What a power cut would leave of the Diagnosis at this moment. */
  async stageOf(name: string): Promise<Stage> {
    const object = await storedOnDisk(this.node, name);
    if (!object) return 'not stored';
    const { phase, checkpoint } = (object.status ?? {}) as DiagnosisStatus;
    if (phase === 'Succeeded' || phase === 'Failed') return 'ended';
    if (!checkpoint) return 'stored';
    const { uid } = object.metadata;
    const actions = this.journal.records.filter(({ purpose }) => purpose?.startsWith(uid));
    if (actions.some(({ outcome }) => outcome?.state === 'done')) return 'outcome written';
    const isOpen = this.journal.unfinished.some(({ purpose }) => purpose?.startsWith(uid));
    if (isOpen) return this.line?.includes('//deleted ') ? 'intent written' : 'unmounted';
    return STAGES[2 + checkpoint.nodeIndex] ?? 'stored';
  }
}

/** Read in a copy: to open a store is to finish what a crash left of its last write. */
async function storedOnDisk(node: PracticeNode, name: string): Promise<StoredObject | undefined> {
  const folder = mkdtempSync(join(node.scratch, 'copy-'));
  for (const file of ['store.sqlite', 'store.sqlite-wal']) {
    const path = join(node.stateFolder, file);
    if (existsSync(path)) copyFileSync(path, join(folder, file));
  }
  const store = await openSqliteStore(join(folder, 'store.sqlite'));
  const object = await store.get({ kind: 'Diagnosis', namespace: 'default', name });
  store.close();
  rmSync(folder, { recursive: true });
  return object;
}
