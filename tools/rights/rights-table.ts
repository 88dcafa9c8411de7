import { clusterActions } from './cluster-actions.ts';
import { diagnosisActions } from './diagnosis-actions.ts';
import type { SubjectId } from './subjects.ts';

/** A request to the API server, which is only tried: nothing is stored. */
export interface TriedRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Of a PUT: what differs from the stored object. */
  readonly body?: object;
  /** Of a PATCH: "merge" if absent. A strategic one merges conditions by their type. */
  readonly patch?: 'merge' | 'strategic-merge' | 'apply';
}

export interface Action {
  readonly what: string;
  readonly request: TriedRequest;
  readonly may: readonly SubjectId[];
  /** Of a change that nobody may make: the message of the CRD by which it is invalid. */
  readonly rule?: string;
}

export interface ActionGroup {
  readonly title: string;
  readonly actions: readonly Action[];
}

/** What everybody may and may not do: docs/reference/rights.md shows it, a test tries every cell. */
export const rightsTable: readonly ActionGroup[] = [...diagnosisActions, ...clusterActions];
