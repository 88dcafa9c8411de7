import type { AnyFault } from '../../node/model/fault.ts';

/** How the steps of a fault are called, and the keys that they answer with. All follow from its id. */
export interface FaultSteps {
  /** The OperationSet: find it, then repair it. */
  readonly set: string;
  readonly diagnoser: string;
  readonly recover: string;
  readonly diagnoserPath: string;
  readonly recoverPath: string;
  /** A sentence. */
  readonly found: string;
  /** Active findings as JSON: a list of objects, each with the id of a finding. */
  readonly findings: string;
  readonly bugLink: string;
  /** A sentence. */
  readonly recovered: string;
}

/** Of "dead-volume-mount": "/processor/deadVolumeMountDiagnoser", "diagnoser.kubernetes.dead_..." */
export function stepsOf({ id }: Pick<AnyFault, 'id'>): FaultSteps {
  const camel = id.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const snake = id.replaceAll('-', '_');
  return {
    set: id,
    diagnoser: `${id}-diagnoser`,
    recover: `${id}-recover`,
    diagnoserPath: `/processor/${camel}Diagnoser`,
    recoverPath: `/processor/${camel}Recover`,
    found: `diagnoser.kubernetes.${snake}.result`,
    findings: `diagnoser.kubernetes.${snake}.findings`,
    bugLink: `diagnoser.kubernetes.${snake}.bug_link`,
    recovered: `recover.kubernetes.${snake}.result`,
  };
}
