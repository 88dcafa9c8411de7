import type { AnyFault } from '../../node/model/fault.ts';

/**
 * How the steps of a fault are called, and the keys that they answer with. All follow from its id.
 * Of "dead-volume-mount": "/processor/deadVolumeMountDiagnoser", "diagnoser.kubernetes.dead_..."
 */
export function stepsOf({ id }: Pick<AnyFault, 'id'>) {
  const camel = id.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const snake = id.replaceAll('-', '_');
  return {
    /** The OperationSet: find it, then repair it. */
    set: id,
    diagnoser: `${id}-diagnoser`,
    recover: `${id}-recover`,
    diagnoserPath: `/processor/${camel}Diagnoser`,
    recoverPath: `/processor/${camel}Recover`,
    /** A sentence. */
    found: `diagnoser.kubernetes.${snake}.result`,
    /** Active findings as JSON: a list of objects, each with the id of a finding. */
    findings: `diagnoser.kubernetes.${snake}.findings`,
    bugLink: `diagnoser.kubernetes.${snake}.bug_link`,
    /** A sentence. */
    recovered: `recover.kubernetes.${snake}.result`,
  };
}
