import { NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';

/** Parts of CEL expressions that several policies have. */

/** Both objects have the same fields with the same values, but for those that are named. */
export function sameExcept(part: string, fields: readonly string[]): string {
  const [now, before] = [`dyn(object${part})`, `dyn(oldObject${part})`];
  const skipped = `k in [${fields.map((field) => `'${field}'`).join(', ')}]`;
  return [
    `${now}.all(k, ${skipped} || (k in ${before} && ${now}[k] == ${before}[k]))`,
    `${before}.all(k, ${skipped} || k in ${now})`,
  ].join(' && ');
}

export const conditionsBut = (object: string, type: string) =>
  `(has(${object}.status.conditions) ? ${object}.status.conditions.filter(c, c.type != '${type}') : [])`;

/** The request is one of this account. */
export const isAccount = (account: string) =>
  `request.userInfo.username == 'system:serviceaccount:${NAMESPACE}:${account}'`;
