import { mapAtOnce } from '../../../lib/std/map-at-once.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { LACKS_RIGHT_MS } from '../../../pipeline/store/limits.ts';
import type { StoredObject } from '../../../pipeline/store/store.ts';
import { lacksRight, type StoreError } from '../../../pipeline/store/store-error.ts';
import type { ControllerContext } from '../controller-context.ts';
import { type DiagnosisDigest, diagnosisDigest } from '../digests.ts';
import { childName, isChildOf } from './child-diagnosis.ts';
import { deletedText, type SeenNode } from './decide-parent.ts';
import { REQUESTS_AT_ONCE, UNSEEN_MS } from './limits.ts';

/**
 * What this process knows of the children of one parent and the watch does not show: those it has just
 * created, and why others will never be. After a change of the leader it follows from the API server.
 */
export class ParentMemory {
  readonly uid: string;
  readonly #name: string;
  /** When nodes got their Diagnosis from this process, by `performance.now`. */
  readonly createdAtMs = new Map<string, number>();
  readonly failures = new Map<string, string>();
  readonly #childNames = new Map<string, string>();
  /** When the next work may begin. */
  nextMs = 0;
  /** The version of the last status that this process wrote. */
  writtenVersion = '';
  #lacksRightAtMs: number | undefined;

  constructor({ metadata, status }: Pick<StoredObject, 'metadata' | 'status'>) {
    this.uid = metadata.uid;
    this.#name = metadata.name;
    // Failures that an earlier leader recorded: the object that would say why may be gone.
    const { nodeNames = [], failedNodes = [] } = (status ?? {}) as DiagnosisStatus;
    const selected = new Set(nodeNames);
    for (const { name, message, diagnosis } of failedNodes) {
      if (diagnosis === undefined && selected.has(name)) this.failures.set(name, message);
    }
  }

  childNameOf(nodeName: string): string {
    const parent = { name: this.#name, uid: this.uid };
    const name = this.#childNames.get(nodeName) ?? childName(parent, nodeName);
    this.#childNames.set(nodeName, name);
    return name;
  }

  /** Whether the right to create Diagnoses may only be missing because the API server has just started. */
  mayGetRight(error: StoreError): boolean {
    if (!lacksRight(error)) return false;
    this.#lacksRightAtMs ??= performance.now();
    return performance.now() - this.#lacksRightAtMs < LACKS_RIGHT_MS;
  }
}

/** All selected nodes of a parent, with their Diagnoses. */
export async function seenNodes(
  parent: StoredObject,
  memory: ParentMemory,
  { diagnoses, store }: Pick<ControllerContext, 'diagnoses' | 'store'>,
): Promise<readonly SeenNode[]> {
  const { namespace = '', uid } = parent.metadata;
  const { operationSet } = parent.spec as DiagnosisSpec;
  const { nodeNames = [], nodes } = (parent.status ?? {}) as DiagnosisStatus;
  const isOurs = (digest: DiagnosisDigest, node: string) =>
    isChildOf(digest, { uid, operationSet }, node);
  const seen = (name: string, at: number): SeenNode | 'unseen' => {
    const child = memory.childNameOf(name);
    const digest = diagnoses.get(`${namespace}/${child}`);
    if (digest && isOurs(digest, name)) {
      return { name, childName: child, child: digest, isCreated: true };
    }
    const failure = digest ? foreignText(child) : memory.failures.get(name);
    if (failure !== undefined) return { name, childName: child, failure, isCreated: true };
    const createdAtMs = memory.createdAtMs.get(name);
    const isNew = createdAtMs !== undefined && performance.now() - createdAtMs < UNSEEN_MS;
    if (!isNew && (createdAtMs !== undefined || at < (nodes?.created ?? 0))) return 'unseen';
    return { name, childName: child, isCreated: isNew };
  };
  // Created by now, and not in the watch: deleted, or the watch is behind.
  const unseen = nodeNames.filter((name, at) => seen(name, at) === 'unseen');
  await mapAtOnce(unseen, REQUESTS_AT_ONCE, async (name) => {
    const child = memory.childNameOf(name);
    const found = await store.get({ kind: 'Diagnosis', namespace, name: child });
    if (!found) memory.failures.set(name, deletedText(child));
    else if (isOurs(diagnosisDigest(found), name)) memory.createdAtMs.set(name, performance.now());
    else memory.failures.set(name, foreignText(child));
  });
  return nodeNames.map((name, at) => {
    const node = seen(name, at);
    if (node !== 'unseen') return node;
    return { name, childName: memory.childNameOf(name), isCreated: true };
  });
}

export function foreignText(name: string): string {
  return `Diagnosis ${name} exists already and does not belong to this one: delete this one, then create it again`;
}
