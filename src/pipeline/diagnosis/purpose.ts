import type { StoredObject } from '../store/store.ts';

/** What the deeds of a step are known by in the journal of the node: the same in every attempt. */
export function purposeOf(
  { uid, namespace = '', name }: StoredObject['metadata'],
  { id = 0 }: { readonly id?: number | undefined },
): string {
  return `${uid}/${id}/${namespace}/${name}`;
}

/** The Diagnosis that a deed was for, as people call it. */
export function diagnosisIn(purpose: string): string {
  // 0f6bd4e2-6f2e-4f43-9a52-6b6a4bfb1a30/2/default/web
  const [uid = '', , namespace, name] = purpose.split('/');
  return name === undefined ? uid : `${namespace}/${name}`;
}
