export const GROUP = 'diagnosis.kubediag.org';
export const VERSION = 'v1';
export const API_VERSION = `${GROUP}/${VERSION}`;

export type KindName = 'Operation' | 'OperationSet' | 'Diagnosis' | 'Trigger' | 'CommonEvent';

interface KindNames {
  readonly plural: string;
  readonly scope: 'Cluster' | 'Namespaced';
}

/** Where an API server has the objects of a kind. Apart from the schemas, which an idle agent does not load. */
export const KIND_NAMES: Readonly<Record<KindName, KindNames>> = {
  Operation: { plural: 'operations', scope: 'Cluster' },
  OperationSet: { plural: 'operationsets', scope: 'Cluster' },
  Diagnosis: { plural: 'diagnoses', scope: 'Namespaced' },
  Trigger: { plural: 'triggers', scope: 'Cluster' },
  CommonEvent: { plural: 'commonevents', scope: 'Namespaced' },
};

/** The plural of RecoveryPolicy, which no store has. */
export const RECOVERY_POLICIES = 'recoverypolicies';
