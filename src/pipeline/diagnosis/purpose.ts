import type { StoredObject } from '../store/store.ts';

/** Identifies the actions of a step in the journal: the same for every attempt. */
export function purposeOf(
  { uid, namespace = '', name }: StoredObject['metadata'],
  { id = 0 }: { readonly id?: number | undefined },
): string {
  return `${uid}/${id}/${namespace}/${name}`;
}

/** The Diagnosis of an action, as people call it. */
export function diagnosisIn(purpose: string): string {
  // 0f6bd4e2-6f2e-4f43-9a52-6b6a4bfb1a30/2/default/web
  const [uid = '', , namespace, name] = purpose.split('/');
  return name === undefined ? uid : `${namespace}/${name}`;
}
